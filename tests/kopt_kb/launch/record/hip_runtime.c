/* A HIP runtime for tests: memory of this process, streams that are never busy, and kernels written here.
 *
 * Types are those of include/hip/hip_runtime_api.h of ROCm/HIP. Every call is kept as a line; a call named by
 * hip_test_refuse returns an error. A launch finds its arguments as the real one does: a pointer to each.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int hipError_t;
typedef struct { char bytes[16]; } hipUUID;
typedef struct { char reserved[64]; } hipIpcMemHandle_t;

static char log_text[1 << 20], refused[128], architecture[64] = "gfx942:sramecc+:xnack-";
static size_t log_used;
static int devices = 1;
static float variable[4] = {1, 2, 3, 4};

static hipError_t said(const char *format, ...) {
  va_list words;
  size_t begin = log_used;
  va_start(words, format);
  log_used += vsnprintf(log_text + log_used, sizeof log_text - log_used - 2, format, words);
  va_end(words);
  log_text[log_used++] = '\n';
  log_text[log_used] = 0;
  size_t size = strlen(refused);
  return size && !strncmp(log_text + begin, refused, size) && strchr(" \n", log_text[begin + size]) ? 801 : 0;
}

const char *hip_test_log(void) { return log_text; }
void hip_test_forget(void) { log_used = 0; log_text[0] = 0; }
void hip_test_refuse(const char *name) { snprintf(refused, sizeof refused, "%s", name); }
void hip_test_device(const char *name, int count) { snprintf(architecture, sizeof architecture, "%s", name); devices = count; }

const char *hipGetErrorName(hipError_t error) {
  return error == 801 ? "hipErrorNotSupported" : error == 100 ? "hipErrorNoDevice" : error == 719 ? "hipErrorLaunchFailure"
       : error == 500 ? "hipErrorNotFound" : "hipErrorUnknown";
}
hipError_t hipInit(unsigned flags) { return said("hipInit %u", flags); }
hipError_t hipSetDevice(int device) { hipError_t e = said("hipSetDevice %d", device); return device < devices ? e : 100; }
hipError_t hipGetDeviceCount(int *count) { *count = devices; return 0; }
hipError_t hipDeviceGetName(char *name, int size, int device) { snprintf(name, size, "AMD Instinct of a test"); return said("hipDeviceGetName %d", device); }
hipError_t hipDeviceGetUuid(hipUUID *uuid, int device) { memcpy(uuid->bytes, "0123456789abcdef", 16); return said("hipDeviceGetUuid %d", device); }
hipError_t hipDeviceTotalMem(size_t *bytes, int device) { *bytes = (size_t)5 << 32; return said("hipDeviceTotalMem %d", device); }
hipError_t hipDeviceGetAttribute(int *value, int attribute, int device) { *value = attribute == 19 ? 4 << 20 : -1; return said("hipDeviceGetAttribute %d %d", attribute, device); }
hipError_t hipDriverGetVersion(int *version) { *version = 60240092; return 0; }
hipError_t hipGetDevicePropertiesR0600(void *held, int device) {
  memset(held, 0x55, 1472);
  memset((char *)held + 1160, 0, 256);
  strcpy((char *)held + 1160, architecture);
  return said("hipGetDevicePropertiesR0600 %d", device);
}
hipError_t hipStreamCreateWithFlags(void **stream, unsigned flags) { *stream = (void *)0x5757; return said("hipStreamCreateWithFlags %u", flags); }
hipError_t hipStreamSynchronize(void *stream) { return said("hipStreamSynchronize %p", stream); }
hipError_t hipMalloc(void **address, size_t size) {
  hipError_t e = said("hipMalloc %zu", size);
  if (!e) *address = malloc(size);
  return e;
}
hipError_t hipFree(void *address) { free(address); return said("hipFree"); }
static hipError_t copied(const char *name, void *to, const void *from, size_t size, void *stream) {
  hipError_t e = said("%s %zu %p", name, size, stream);
  if (!e) memmove(to, from, size);
  return e;
}
hipError_t hipMemcpyHtoDAsync(void *to, void *from, size_t size, void *stream) { return copied("hipMemcpyHtoDAsync", to, from, size, stream); }
hipError_t hipMemcpyDtoHAsync(void *to, void *from, size_t size, void *stream) { return copied("hipMemcpyDtoHAsync", to, from, size, stream); }
hipError_t hipMemcpyDtoDAsync(void *to, void *from, size_t size, void *stream) { return copied("hipMemcpyDtoDAsync", to, from, size, stream); }
hipError_t hipMemsetD8Async(void *to, unsigned char value, size_t count, void *stream) { memset(to, value, count); return said("hipMemsetD8Async %u %zu %p", value, count, stream); }
hipError_t hipMemsetD16Async(void *to, unsigned short value, size_t count, void *stream) {
  for (size_t at = 0; at < count; at++) ((unsigned short *)to)[at] = value;
  return said("hipMemsetD16Async %u %zu %p", value, count, stream);
}
hipError_t hipMemsetD32Async(void *to, int value, size_t count, void *stream) {
  for (size_t at = 0; at < count; at++) ((int *)to)[at] = value;
  return said("hipMemsetD32Async %u %zu %p", (unsigned)value, count, stream);
}
hipError_t hipModuleLoadData(void **module, const void *image) {
  *module = (void *)0x30d;
  return said("hipModuleLoadData %02x%.3s", *(const unsigned char *)image, (const char *)image + 1);
}
hipError_t hipModuleUnload(void *module) { return said("hipModuleUnload %p", module); }
hipError_t hipModuleGetFunction(void **function, void *module, const char *name) { *function = strdup(name); return said("hipModuleGetFunction %p %s", module, name); }
hipError_t hipModuleGetGlobal(void **address, size_t *size, void *module, const char *name) {
  *address = variable, *size = sizeof variable;
  said("hipModuleGetGlobal %p %s", module, name);
  return strcmp(name, "table") ? 500 : 0;
}
static hipError_t run(const char *name, unsigned blocks, unsigned threads, void **arguments) {
  if (!strcmp(name, "faults")) return 719;
  if (strcmp(name, "axpy")) return 0;
  const float *x = *(float **)arguments[0], *y = *(float **)arguments[1], a = *(float *)arguments[3];
  float *out = *(float **)arguments[2];
  int n = *(int32_t *)arguments[4];
  if (*(void **)arguments[5] || *(void **)arguments[6]) return 719;
  for (unsigned at = 0; at < blocks * threads && (int)at < n; at++) out[at] = a * x[at] + y[at];
  return 0;
}
hipError_t hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                 unsigned shared, void *stream, void **arguments, void **extra) {
  hipError_t e = said("hipModuleLaunchKernel %s %u %u %u %u %u %u %u %p %d", (char *)function, gx, gy, gz, bx, by, bz, shared, stream, extra != NULL);
  return e ? e : run(function, gx, bx, arguments);
}
hipError_t hipModuleLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                            unsigned bz, unsigned shared, void *stream, void **arguments) {
  hipError_t e = said("hipModuleLaunchCooperativeKernel %s %u %u %u %u %u %u %u %p", (char *)function, gx, gy, gz, bx, by, bz, shared, stream);
  return e ? e : run(function, gx, bx, arguments);
}
hipError_t hipEventCreate(void **event) { static uintptr_t next = 0xe0; *event = (void *)next++; return said("hipEventCreate"); }
hipError_t hipEventRecord(void *event, void *stream) { return said("hipEventRecord %p %p", event, stream); }
hipError_t hipEventElapsedTime(float *ms, void *first, void *second) { *ms = 1.5f; return said("hipEventElapsedTime %p %p", first, second); }
hipError_t hipStreamBeginCapture(void *stream, int mode) { return said("hipStreamBeginCapture %p %d", stream, mode); }
hipError_t hipStreamEndCapture(void *stream, void **graph) { *graph = (void *)0x96; return said("hipStreamEndCapture %p", stream); }
hipError_t hipGraphInstantiate(void **ready, void *graph, void **node, char *text, size_t size) { *ready = (void *)0x97; return said("hipGraphInstantiate %p %d %d %zu", graph, node != NULL, text != NULL, size); }
hipError_t hipGraphDestroy(void *graph) { return said("hipGraphDestroy %p", graph); }
hipError_t hipGraphLaunch(void *ready, void *stream) { return said("hipGraphLaunch %p %p", ready, stream); }
hipError_t hipGraphExecDestroy(void *ready) { return said("hipGraphExecDestroy %p", ready); }
hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *handle, void *address) { memset(handle->reserved, 7, 64); memcpy(handle->reserved, &address, sizeof address); return said("hipIpcGetMemHandle"); }
