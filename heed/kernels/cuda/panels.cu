#include "heed/kernels/cuda/panels.cuh"

namespace heed::kernels::cuda {
namespace {

/// max over the block, the same in all threads; `parts` [kThreads].
__device__ float max_of_block(float x, float* parts) {
  x = max_of_lanes<32>(x);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  float max = parts[0];
  for (int warp = 1; warp < kThreads / 32; ++warp) max = fmaxf(max, parts[warp]);
  __syncthreads();
  return max;
}
__device__ float sum_of_block(float x, float* parts) {
  x = sum_of_lanes<32>(x);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  float sum = parts[0];
  for (int warp = 1; warp < kThreads / 32; ++warp) sum += parts[warp];
  __syncthreads();
  return sum;
}

/// u = w / max|w|. A weight too small to be divided by counts as 2^-24 of the largest; a padded one as 1.
__device__ __forceinline__ float folded_weight(const float* w, float max, int f, int width) {
  const float u = f < width && max > 0 ? w[f] / max : 1.0F;
  return fabsf(u) < 0x1p-24F ? copysignf(0x1p-24F, u) : u;
}

/// One chunk of features of one tile of one job: rows of features, through shared memory, to features of rows.
__global__ void __launch_bounds__(kThreads)
    panel_kernel(const __grid_constant__ Problem<float> p, const __grid_constant__ Panels panels,
                 const __grid_constant__ PanelJobs all) {
  __shared__ float block[kTile][kChunk + 1], parts[kThreads / 32];
  int which = 0;
  while (static_cast<int>(blockIdx.x) >= all.first_block[which + 1]) ++which;
  const PanelJob& job = all.jobs[which];
  const int features = padded(job.width), tiles = (job.length + kTile - 1) / kTile;
  const int chunks = (features + kChunk - 1) / kChunk;
  const int own = static_cast<int>(blockIdx.x) - all.first_block[which], first = own % chunks * kChunk;
  const int index = own / chunks, tile = index % tiles, bh = index / tiles, h = bh % job.heads, b = bh / job.heads;
  int length = job.length;
  if (job.key_count != nullptr) {
    const int count = static_cast<int>(min(static_cast<int64_t>(length), job.key_count[b]));
    length = job.none_only && count > 0 ? length : count;
  }
  const float* w = job.folded ? weights_of_head(p, h) : nullptr;
  float max = 0;
  if (job.folded) {
    for (int f = threadIdx.x; f < job.width; f += kThreads) max = fmaxf(max, fabsf(w[f]));
    max = max_of_block(max, parts);
    if (tile == 0 && b == 0 && first == 0) {  // once for each head: 1/u and the constants
      float sum = 0;
      for (int f = threadIdx.x; f < features; f += kThreads) {
        const float u = folded_weight(w, max, f, job.width);
        panels.fold[h * features + f] = 1.0F / u;
        sum += f < job.width ? u * max : 2 * max;  // a padded feature has d = 1
      }
      sum = sum_of_block(sum, parts);
      if (threadIdx.x == 0) panels.folded[h] = {sum, -2 * max};
    }
  }
  const int count = min(kChunk, features - first);
  for (int n = threadIdx.x; n < kTile * kChunk; n += kThreads) {
    const int row = n / kChunk, f = n % kChunk;
    float x = 0;
    if (tile * kTile + row < length && first + f < job.width) {
      x = job.rows.at(b, h, tile * kTile + row)[first + f];
      if (job.exponential) x = expf(2 * x);
      if (job.folded) x *= 1.0F / folded_weight(w, max, first + f, job.width);
    }
    block[row][f] = x;
  }
  __syncthreads();
  float* to = job.panels + (static_cast<int64_t>(index) * features + first) * kTile;
  for (int n = threadIdx.x; n < count * kTile; n += kThreads) to[n] = block[n % kTile][n / kTile];
  if (job.largest == nullptr) return;
  for (int f = threadIdx.x / 32; f < count; f += kThreads / 32) {
    const int lane = threadIdx.x % 32;
    const float own_max = max_of_lanes<32>(fmaxf(fabsf(block[lane][f]), fabsf(block[lane + 32][f])));
    if (lane == 0) job.largest[static_cast<int64_t>(index) * features + first + f] = own_max;
  }
}

}  // namespace

PanelJob panel_job(const Problem<float>& p, const Rows<const float>& rows, int64_t heads, int64_t length, int64_t width,
                   Workspace& workspace) {
  PanelJob job;
  job.rows = rows;
  job.heads = static_cast<int>(heads);
  job.length = static_cast<int>(length);
  job.width = static_cast<int>(width);
  job.panels = workspace.take<float>(p.batch * heads * tiles_of(length) * padded(width) * kTile);
  return job;
}

void add_job(PanelJobs& jobs, const PanelJob& job, int64_t batch) {
  jobs.jobs[jobs.count] = job;
  jobs.first_block[jobs.count + 1] =
      jobs.first_block[jobs.count] +
      static_cast<int>(batch * job.heads * tiles_of(job.length) * divided_up(padded(job.width), kChunk));
  ++jobs.count;
}

Panels take_panels(const Problem<float>& p, Workspace& workspace, PanelJobs& jobs) {
  Panels panels;
  PanelJob query = panel_job(p, p.query, p.heads, p.queries, p.width, workspace);
  PanelJob keys = panel_job(p, p.key_rows, p.key_heads, p.keys, p.width, workspace);
  query.key_count = keys.key_count = p.mask.key_count;
  query.none_only = true;
  if (p.score == ScoreKind::additive) {
    query.exponential = keys.exponential = true;
    panels.fold = workspace.take<float>(p.heads * padded(p.width));
    panels.folded = workspace.take<FoldedScore>(p.heads);
    query.folded = true;
    query.largest = workspace.take<float>(p.batch * p.heads * tiles_of(p.queries) * padded(p.width));
    keys.largest = workspace.take<float>(p.batch * p.key_heads * tiles_of(p.keys) * padded(p.width));
  }
  add_job(jobs, query, p.batch);
  add_job(jobs, keys, p.batch);
  panels.query = query.panels;
  panels.keys = keys.panels;
  panels.query_max = query.largest;
  panels.keys_max = keys.largest;
  return panels;
}

void fill_panels(const Problem<float>& p, const Panels& panels, const PanelJobs& jobs, Stream stream) {
  panel_kernel<<<static_cast<unsigned>(jobs.first_block[jobs.count]), kThreads, 0, stream>>>(p, panels, jobs);
}

}  // namespace heed::kernels::cuda
