/** The life of share groups and of their snapshots. */
import { gone, lifecycle } from './lifecycle.ts';

export const shareGroupLife = lifecycle('shareGroup', {
  create: { from: null, via: 'creating', to: 'available', onError: 'error' },
  // A deletion that failed can be asked for again.
  delete: {
    from: ['available', 'error'],
    via: 'deleting',
    to: gone,
    onError: 'error',
    refused: 'conflict',
  },
});

/** Kinds of jobs that a group's creation goes on in, on the back end's own queue. */
export const shareGroupJobs = {
  /** a group that has been placed is made */
  provision: 'shareGroup.provision',
  /** the shares of a group from a snapshot are waited for */
  fill: 'shareGroup.fill',
} as const;

/** The same for the snapshot and its members. */
export const shareGroupSnapshotLife = lifecycle('shareGroupSnapshot', {
  create: { from: null, via: 'creating', to: 'available', onError: 'error' },
  delete: {
    from: ['available', 'error'],
    via: 'deleting',
    to: gone,
    onError: 'error',
    refused: 'conflict',
  },
});
