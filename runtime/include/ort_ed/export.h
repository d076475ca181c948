#pragma once

#define ORT_ED_API __attribute__((visibility("default")))
