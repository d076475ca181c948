// A library that says of itself what ONNX Runtime 1.10 says.
static const void* GetApi(unsigned version) {
  (void)version;
  return 0;
}
static const char* GetVersionString(void) { return "1.10.0"; }

typedef struct {
  const void* (*GetApi)(unsigned version);
  const char* (*GetVersionString)(void);
} ApiBase;

const ApiBase* OrtGetApiBase(void);
const ApiBase* OrtGetApiBase(void) {
  static const ApiBase base = {GetApi, GetVersionString};
  return &base;
}
