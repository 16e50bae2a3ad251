#include "heed/kernels/cuda/panels.cuh"

namespace heed::kernels::cuda {
namespace {

/// 1/u and the constants of each head. A weight too small to be divided by counts as 2^-24 of the largest.
__global__ void __launch_bounds__(kThreads)
    fold_kernel(const float* to_scores, int64_t head, int width, int features, float* fold, FoldedScore* folded) {
  __shared__ float parts[kThreads];
  const float* w = to_scores + blockIdx.x * head;
  const auto over_block = [&](float x, auto combine) {
    parts[threadIdx.x] = x;
    for (int step = kThreads / 2; step > 0; step /= 2) {
      __syncthreads();
      if (static_cast<int>(threadIdx.x) < step)
        parts[threadIdx.x] = combine(parts[threadIdx.x], parts[threadIdx.x + step]);
    }
    __syncthreads();
    const float all = parts[0];
    __syncthreads();
    return all;
  };
  float max = 0, sum = 0;
  for (int f = threadIdx.x; f < width; f += kThreads) max = fmaxf(max, fabsf(w[f]));
  max = over_block(max, [](float a, float b) { return fmaxf(a, b); });
  for (int f = threadIdx.x; f < features; f += kThreads) {
    float u = f < width && max > 0 ? w[f] / max : 1.0F;
    if (fabsf(u) < 0x1p-24F) u = copysignf(0x1p-24F, u);
    fold[blockIdx.x * features + f] = 1.0F / u;
    sum += f < width ? u * max : 2 * max;  // a padded feature has d = 1
  }
  sum = over_block(sum, [](float a, float b) { return a + b; });
  if (threadIdx.x == 0) folded[blockIdx.x] = {sum, -2 * max};
}

/// One tile of one job: rows of features, through shared memory, to features of rows.
__global__ void __launch_bounds__(kThreads) panel_kernel(const __grid_constant__ PanelJobs all) {
  __shared__ float block[kTile][kChunk + 1];
  int which = 0;
  while (static_cast<int>(blockIdx.x) >= all.first_block[which + 1]) ++which;
  const PanelJob& job = all.jobs[which];
  const int features = padded(job.width), tiles = (job.length + kTile - 1) / kTile;
  const int index = static_cast<int>(blockIdx.x) - all.first_block[which], tile = index % tiles, bh = index / tiles;
  const int h = bh % job.heads, b = bh / job.heads;
  int length = job.length;
  if (job.key_count != nullptr) {
    const int count = static_cast<int>(min(static_cast<int64_t>(length), job.key_count[b]));
    length = job.none_only && count > 0 ? length : count;
  }
  const float* fold = job.fold == nullptr ? nullptr : job.fold + h * features;
  float* to = job.panels + static_cast<int64_t>(index) * features * kTile;
  for (int first = 0; first < features; first += kChunk) {
    const int count = min(kChunk, features - first);
    for (int n = threadIdx.x; n < kTile * kChunk; n += kThreads) {
      const int row = n / kChunk, f = n % kChunk;
      float x = 0;
      if (tile * kTile + row < length && first + f < job.width) {
        x = job.rows.at(b, h, tile * kTile + row)[first + f];
        if (job.exponential) x = expf(2 * x);
        if (fold != nullptr) x *= fold[first + f];
      }
      block[row][f] = x;
    }
    __syncthreads();
    for (int n = threadIdx.x; n < count * kTile; n += kThreads) {
      const int f = n / kTile, row = n % kTile;
      to[(first + f) * kTile + row] = block[row][f];
    }
    if (job.largest != nullptr)
      for (int f = threadIdx.x / 32; f < count; f += kThreads / 32) {
        const int lane = threadIdx.x % 32;
        const float max = max_of_lanes<32>(fmaxf(fabsf(block[lane][f]), fabsf(block[lane + 32][f])));
        if (lane == 0) job.largest[static_cast<int64_t>(index) * features + first + f] = max;
      }
    __syncthreads();
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
      jobs.first_block[jobs.count] + static_cast<int>(batch * job.heads * tiles_of(job.length));
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
    query.fold = panels.fold;
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
  if (p.score == ScoreKind::additive)
    fold_kernel<<<static_cast<unsigned>(p.heads), kThreads, 0, stream>>>(
        p.to_scores, p.to_scores_head, static_cast<int>(p.width), padded(p.width), panels.fold, panels.folded);
  panel_kernel<<<static_cast<unsigned>(jobs.first_block[jobs.count]), kThreads, 0, stream>>>(jobs);
}

}  // namespace heed::kernels::cuda
