/** What is wrong with the contract, all of it at once, each with its file and key. */
export class Problems {
  readonly list: string[] = [];

  add(file: string, key: string, text: string): void {
    this.list.push(`openapi/${file}: ${key}: ${text}`);
  }

  /** Ends the run when anything was found. */
  throwIfAny(): void {
    if (this.list.length > 0) throw new ContractError(this.list);
  }
}

export class ContractError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ContractError';
  }
}
