// What the command is linked with in place of a certain release of ONNX Runtime; see tools/CMakeLists.txt.
const void* OrtGetApiBase(void);
const void* OrtGetApiBase(void) { return 0; }
