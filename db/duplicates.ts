/** What unique keys decide between two at once. */

const DUPLICATE = 1062;

/** Waits for the write; false instead of a duplicate key. */
export async function unlessTaken(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if ((error as { errno?: number }).errno === DUPLICATE) return false;
    throw error;
  }
}
