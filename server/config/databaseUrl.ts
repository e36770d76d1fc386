/**
 * Where the database is: `mysql+pymysql://user:password@host:port/name?charset=utf8`, as operators' files have it.
 * The dialect after `+` is read over. The password stays out of everything that is printed.
 */
import { inspect } from 'node:util';

export class DatabaseUrl {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** path of a Unix socket (`?unix_socket=`), used instead of host and port when set */
  readonly socketPath: string | undefined;

  /** Throws an Error that says what is wrong, without the URL's text. */
  constructor(url: string) {
    if (!/^(mysql|mariadb)(\+\w+)?:\/\//.test(url)) throw new Error('not a mysql:// or mysql+pymysql:// URL');
    let parsed: URL;
    try {
      parsed = new URL(url.replace(/^[a-z]+(\+\w+)?:/, 'mysql:'));
      this.user = decodeURIComponent(parsed.username);
      this.password = decodeURIComponent(parsed.password);
      this.database = decodeURIComponent(parsed.pathname.slice(1));
    } catch {
      throw new Error('not a URL (is a character of the password not percent-encoded?)');
    }
    if (this.database === '' || this.database.includes('/'))
      throw new Error('names no database after the host');
    this.host = parsed.hostname.replace(/^\[(.*)\]$/, '$1');
    this.port = parsed.port ? Number(parsed.port) : 3306;
    this.socketPath = parsed.searchParams.get('unix_socket') ?? undefined;
  }

  /** The URL without its password. */
  toString(): string {
    const host = this.host.includes(':') ? `[${this.host}]` : this.host;
    const secret = this.password ? ':***' : '';
    return `mysql://${this.user}${secret}@${host}:${this.port}/${this.database}`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}
