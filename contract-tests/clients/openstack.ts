/** The unmodified `openstack` command and manilaclient, as users have them. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

/** The client looks every five seconds at what it waits for. */
const COMMAND_DEADLINE_MS = 60_000;
const INSTALL_DEADLINE_MS = 900_000;

/** Who calls, as noauth takes it. */
export interface User {
  name: string;
  project: string;
  roles: readonly string[];
}

export class OpenStackClient {
  readonly #environment: string;
  readonly #endpoint: string;
  readonly #token: string;

  /** `endpoint` ends in /v2; `environment` is what `clientEnvironment` answered. */
  constructor(environment: string, endpoint: string, { name, project, roles }: User) {
    this.#environment = environment;
    this.#endpoint = endpoint;
    this.#token = `${name}:${project}:${roles.join(',')}`;
  }

  /** Runs `openstack …`; answers what it printed, fails with what it complained of. */
  async run(...args: string[]): Promise<string> {
    const who = ['--os-auth-type', 'admin_token', '--os-endpoint', this.#endpoint, '--os-token', this.#token];
    return this.#execute('openstack', [...who, ...args]);
  }

  /** As `run`, with what it prints as JSON. */
  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.run(...args, '-f', 'json')) as T;
  }

  /** Runs a command that is to fail; answers what it complained of. */
  async refusal(...args: string[]): Promise<string> {
    let printed: string;
    try {
      printed = await this.run(...args);
    } catch (error) {
      if (error instanceof CommandFailed) return error.complaint;
      throw error;
    }
    throw new Error(`openstack ${args.join(' ')} was to fail, and printed ${printed}`);
  }

  /** Runs a script of this folder with the Python of the clients; answers the JSON that it printed. */
  async script<T>(name: string): Promise<T> {
    const script = join(import.meta.dirname, name);
    return JSON.parse(await this.#execute('python', [script, this.#endpoint, this.#token])) as T;
  }

  async #execute(program: string, args: string[]): Promise<string> {
    try {
      const { stdout } = await promisify(execFile)(join(this.#environment, 'bin', program), args, {
        timeout: COMMAND_DEADLINE_MS,
        killSignal: 'SIGKILL',
        env: plainEnvironment(),
      });
      return stdout;
    } catch (error) {
      const { code, stderr, killed } = error as { code?: unknown; stderr?: string; killed?: boolean };
      const what = `${program} ${args.join(' ')}`;
      if (killed) throw new Error(`${what} took longer than ${COMMAND_DEADLINE_MS / 1000} s\n${stderr}`);
      if (typeof code !== 'number') throw error;
      throw new CommandFailed(what, code, stderr ?? '');
    }
  }
}

export class CommandFailed extends Error {
  readonly complaint: string;

  constructor(command: string, code: number, complaint: string) {
    super(`${command} ended with ${code}\n${complaint}`);
    this.complaint = complaint;
  }
}

/** Installs the clients where they aren't yet, telling so; answers where they are. */
export async function clientEnvironment(say: (line: string) => void): Promise<string> {
  const running = promisify(execFile)(join(import.meta.dirname, 'environment.sh'), {
    timeout: INSTALL_DEADLINE_MS,
  });
  createInterface({ input: running.child.stderr! }).on('line', say);
  return (await running).stdout.trim();
}

/** What this process has, less what would tell the client of another cloud. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const ours = Object.entries(process.env).filter(([name]) => !/^(OS_|PYTHON)|_proxy$/i.test(name));
  return { ...Object.fromEntries(ours), LC_ALL: 'C.UTF-8', PYTHONWARNINGS: 'ignore' };
}
