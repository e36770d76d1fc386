/** Progress as it is written down: the latest per cent, at most once in an interval, one write at a time. */

export interface ProgressWriter {
  show(percent: number): void;
  /** Waits for a write that is under way; nothing is written afterwards. */
  end(): Promise<void>;
}

/** `write` may fail: progress is only told, the copy goes on. */
export function progressWriter(
  intervalMs: number,
  write: (percent: number) => Promise<void>,
): ProgressWriter {
  let written: number | undefined;
  let latest: number | undefined;
  let writing = Promise.resolve();
  const writeLatest = () => {
    if (latest === undefined || latest === written) return;
    written = latest;
    writing = write(latest).catch(() => {});
  };
  const timer = setInterval(() => void writing.then(writeLatest), intervalMs);
  timer.unref();
  return {
    show(percent) {
      latest = percent;
    },
    async end() {
      clearInterval(timer);
      latest = undefined;
      await writing;
    },
  };
}
