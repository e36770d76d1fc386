/**
 * Where shares and snapshots are kept. Two ways: btrfs.ts, with sizes that hold and instant snapshots, and
 * plain.ts, ordinary directories where the first can't be had. Every call may be repeated, or follow one that
 * was killed half-way.
 */

/** The last two hold what is nobody's yet or any more: see managing.ts. */
export const volumeKinds = ['shares', 'snapshots', 'unmanaged', 'unmanaged-snapshots'] as const;
export type VolumeKind = (typeof volumeKinds)[number];

/**
 * A share or a snapshot by its instance id: a UUID, checked before it comes here. What is unmanaged has a name,
 * checked as well.
 */
export interface Volume {
  kind: VolumeKind;
  id: string;
}

/** Bytes. */
export interface Capacity {
  total: number;
  free: number;
  /** the sizes of all shares */
  provisioned: number;
  /** what is left when every share has been filled, as far as it can be known */
  unpromised: number;
}

export interface Storage {
  /** whether a share can't outgrow its size */
  readonly enforcesSize: boolean;
  /** whether a snapshot takes no time and no room */
  readonly instantSnapshots: boolean;
  open(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;

  exists(volume: Volume): Promise<boolean>;
  /** bytes */
  create(id: string, size: number, signal: AbortSignal): Promise<void>;
  clone(id: string, snapshotId: string, size: number, signal: AbortSignal): Promise<void>;
  /** Makes a share of a directory's files, wherever that is; one that is there already stays as it is. */
  receive(id: string, from: string, size: number, signal: AbortSignal): Promise<void>;
  /** Makes the files of a share those of a directory. */
  fill(id: string, from: string, size: number, signal: AbortSignal): Promise<void>;
  /** Makes a snapshot of a share that holds a directory's files. */
  receiveSnapshot(id: string, snapshotId: string, from: string, signal: AbortSignal): Promise<void>;
  /** A directory with the files of a share as they are now, where snapshots are instant; until `thaw`. */
  freeze(id: string, as: string, signal: AbortSignal): Promise<string>;
  thaw(as: string, signal: AbortSignal): Promise<void>;
  resize(id: string, size: number, signal: AbortSignal): Promise<void>;
  /** bytes in use now, what is still in memory included */
  used(volume: Volume, signal: AbortSignal): Promise<number>;
  snapshot(id: string, snapshotId: string, signal: AbortSignal): Promise<void>;
  /** What is still in memory goes to disk, so that snapshots soon after are quick. */
  flush(signal: AbortSignal): Promise<void>;
  /** Puts the files of a share back to those of the snapshot, in place: root and unchanged files stay the same. */
  revert(id: string, snapshotId: string, size: number, signal: AbortSignal): Promise<void>;
  remove(volume: Volume, signal: AbortSignal): Promise<void>;
  /** Gives it another place; its contents and what is open of it stay as they are. */
  move(from: Volume, to: Volume, signal: AbortSignal): Promise<void>;
  /** bytes that the share may hold; 0: no limit */
  sizeOf(id: string): Promise<number>;
  /** Whether the snapshot was taken of the share, as far as can be known. */
  isSnapshotOf(snapshot: Volume, id: string, signal: AbortSignal): Promise<boolean>;

  /** where its files are, on this machine */
  directory(volume: Volume): string;
  /** Makes the volume ready for Ganesha to export; answers the path. */
  attach(volume: Volume, signal: AbortSignal): Promise<string>;
  detach(volume: Volume, signal: AbortSignal): Promise<void>;

  /** Quick: asked before every share that is made. */
  capacity(): Promise<Capacity>;
  /** Cleans up behind deleted shares; from time to time. */
  tidy(signal: AbortSignal): Promise<void>;
}
