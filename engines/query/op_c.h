// SPDX-License-Identifier: Apache-2.0
#pragma once

/* What an op takes in a layout, and whether it fits, from C: libhoward_op. Nothing here throws,
   prints, aborts on bad input or opens a device. Structs begin with their size as the caller knows
   it, so that later versions may add members at the end. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(HOWARD_OP_BUILDS)
#define HOWARD_OP_API __attribute__((visibility("default")))
#else
#define HOWARD_OP_API
#endif

#define HOWARD_OP_VERSION 1

enum howard_dtype {
  HOWARD_BFLOAT16 = 0,
  HOWARD_FLOAT32 = 1,
  HOWARD_BFLOAT8_B = 2,
  HOWARD_BFLOAT4_B = 3,
  HOWARD_UINT32 = 4,
  HOWARD_INT32 = 5,
  HOWARD_UINT16 = 6,
  HOWARD_UINT8 = 7
};
enum howard_layout { HOWARD_TILE = 0, HOWARD_ROW_MAJOR = 1 };
enum howard_buffer { HOWARD_DRAM = 0, HOWARD_L1 = 1 };
enum howard_memory_layout {
  HOWARD_INTERLEAVED = 0,
  HOWARD_HEIGHT_SHARDED = 1,
  HOWARD_WIDTH_SHARDED = 2,
  HOWARD_BLOCK_SHARDED = 3
};

/* One tensor. A rank of 0 is an operand that is left out. */
typedef struct howard_tensor {
  uint32_t rank; /* 1 to 4 */
  int64_t dims[4];
  int32_t dtype, layout, buffer, memory_layout;
  int32_t grid_columns, grid_rows; /* of shards; they begin at the first core */
  int64_t shard_rows, shard_columns;
  int32_t column_major;
} howard_tensor;

/* Memory of L1 in use on each core. An address of 0 is not known. */
typedef struct howard_live {
  uint64_t bytes, address;
} howard_live;

typedef struct howard_op_call {
  size_t size;            /* sizeof(howard_op_call) */
  const char* op;         /* "matmul" */
  const char* attributes; /* a JSON object, or NULL */
  const howard_tensor* inputs;
  size_t input_count;
  const howard_tensor* outputs; /* as they are wanted; none: interleaved in DRAM */
  size_t output_count;
  const howard_live* live; /* NULL: no state; not NULL with a count of 0: nothing is alive */
  size_t live_count;
} howard_op_call;

typedef struct howard_op_answer {
  size_t size; /* in: sizeof(howard_op_answer) */
  int32_t legal;
  int32_t exact_buffers;
  uint64_t kernel_ps, dispatch_ps, host_ps;
  double expected_error;
  uint64_t circular_buffers, tensors, peak, output_l1; /* bytes of each core */
  uint64_t dram_of_bank;
  uint32_t launches;
  uint32_t output_count; /* how many of outputs are filled */
  howard_tensor outputs[4];
  char rests_on[24], bound_by[24];
  char reason[512];        /* why it is not legal, cut if it is longer */
  char matmul_config[512]; /* as ttnn's logs print it */
} howard_op_answer;

enum howard_status { HOWARD_OK = 0, HOWARD_BAD_ARGUMENT = 1, HOWARD_NO_MEMORY = 2 };

typedef struct howard_op_model howard_op_model;

HOWARD_OP_API uint32_t howard_op_version(void);

/* Opens a model of a chip and its software, as --chip and --software name them; NULL is the
   default. Returns NULL, with the reason in `error`, if there is no such one. Any number of threads
   may use a model. */
HOWARD_OP_API howard_op_model* howard_op_open(const char* chip, const char* software,
                                              int eth_dispatch, uint64_t l1_small, char* error,
                                              size_t error_size);
HOWARD_OP_API void howard_op_close(howard_op_model* model);

/* Answers one call. A call that is not legal has the status HOWARD_OK and a reason. */
HOWARD_OP_API int howard_op_query(const howard_op_model* model, const howard_op_call* call,
                                  howard_op_answer* answer);
/* Answers several; the first failure ends it. `answered` (or NULL) is how many were. */
HOWARD_OP_API int howard_op_query_batch(const howard_op_model* model, const howard_op_call* calls,
                                        size_t count, howard_op_answer* answers, size_t* answered);

#ifdef __cplusplus
}
#endif
