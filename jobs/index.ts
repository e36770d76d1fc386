/** Every job by its kind. */
import type { AnyJob } from './job.ts';
import { shareResizeJobs } from './shareResize.ts';
import { shareJobList } from './shares.ts';

export const jobs: ReadonlyMap<string, AnyJob> = new Map(
  [...shareJobList, ...shareResizeJobs].map((job) => [job.kind, job] as const),
);
