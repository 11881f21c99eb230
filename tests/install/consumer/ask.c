/* SPDX-License-Identifier: Apache-2.0 */
/* C over the installed shared object: what a product takes of each core's L1. */
#include <howard/op_c.h>
#include <stdio.h>

int main(void) {
  char error[256] = "";
  howard_op_model* model = howard_op_open("wormhole_b0_n300", NULL, 1, 0, error, sizeof error);
  howard_tensor factors[2] = {{.rank = 2, .dims = {2048, 2048}}, {.rank = 2, .dims = {2048, 2048}}};
  howard_op_call call = {.size = sizeof call, .op = "matmul", .inputs = factors, .input_count = 2};
  howard_op_answer answer = {.size = sizeof answer};
  if (model == NULL || howard_op_query(model, &call, &answer) != HOWARD_OK) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  printf("%llu\n", (unsigned long long)answer.circular_buffers);
  howard_op_close(model);
  return 0;
}
