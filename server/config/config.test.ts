import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { inspect } from 'node:util';
import { type Config, ConfigError, loadConfig } from './config.ts';
import { hasNoEffect } from './ignored.ts';
import { sections } from './options.ts';

const root = resolve(import.meta.dirname, '../..');

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'shoal-config-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

function file(text: string, name = 'shoal.conf'): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

function load(text: string): { config: Config; warnings: string[] } {
  const warnings: string[] = [];
  const config = loadConfig([file(text)], {
    warn: (message) => warnings.push(message.replace(`${dir}/`, '')),
  });
  return { config, warnings };
}

function problems(text: string): string[] {
  try {
    load(text);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => problem.replace(`${dir}/`, ''));
    throw error;
  }
  return [];
}

const alpha = '[alpha]\nshare_driver = fake\ndriver_handles_share_servers = False\n';

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: the configuration's own references
describe('values', () => {
  test('no file at all gives the defaults', () => {
    const config = loadConfig([]);
    expect(config.DEFAULT.osapi_max_limit).toBe(1000);
    expect(config.DEFAULT.enabled_share_protocols).toEqual(['NFS', 'CIFS']);
    expect(config.quota.per_share_gigabytes).toBe(-1);
    expect(config.DEFAULT.host).not.toBe('');
    expect(config.backends).toEqual({});
  });

  test('every kind of option is read from its text', () => {
    const { config } = load(
      [
        '[DEFAULT]',
        'osapi_max_limit: 50',
        'debug = YES',
        'capacity_weight_multiplier = -1.5',
        'enabled_share_protocols = NFS , CEPHFS',
        'data_node_mount_options = nfs:vers=4.1, cifs:',
        'default_share_type = "with space "',
        'osapi_share_listen = [::1]',
        'driver_updatable_metadata =',
      ].join('\n'),
    );
    expect(config.DEFAULT).toMatchObject({
      osapi_max_limit: 50,
      debug: true,
      capacity_weight_multiplier: -1.5,
      enabled_share_protocols: ['NFS', 'CEPHFS'],
      data_node_mount_options: { nfs: 'vers=4.1', cifs: '' },
      default_share_type: 'with space ',
      osapi_share_listen: '::1',
      driver_updatable_metadata: [],
    });
  });

  test('an indented line continues a value; comments and blank lines do not', () => {
    const { config } = load(
      '[DEFAULT]\nenabled_share_protocols = NFS,\n  CIFS\n# note\n; note\n\nmy_ip = 10.0.0.1\n',
    );
    expect(config.DEFAULT.enabled_share_protocols).toEqual(['NFS', 'CIFS']);
    expect(config.DEFAULT.my_ip).toBe('10.0.0.1');
  });

  test('a value refers to other options, and a dollar sign is doubled', () => {
    const { config } = load(
      '[DEFAULT]\nstate_path = /srv/$host\nhost = one\nmount_tmp_location = ${state_path}/tmp\n' +
        'default_share_type = $$5 and $nothing\n[redis]\nprefix = ${DEFAULT.host}\n',
    );
    expect(config.DEFAULT.mount_tmp_location).toBe('/srv/one/tmp');
    expect(config.DEFAULT.default_share_type).toBe('$5 and $nothing');
    expect(config.redis.prefix).toBe('one');
  });

  test('an option that refers to itself ends', () => {
    expect(load('[DEFAULT]\nstate_path = $state_path/x').config.DEFAULT.state_path).toMatch(
      /^\$state_path(\/x)+$/,
    );
  });

  test('later files win, and a directory comes after the files', () => {
    const first = file('[quota]\nshares = 1\nsnapshots = 1\ngigabytes = 1\n', 'a.conf');
    const second = file('[quota]\nsnapshots = 2\ngigabytes = 2\n', 'b.conf');
    mkdirSync(join(dir, 'conf.d'));
    file('[quota]\ngigabytes = 4\n', 'conf.d/20.conf');
    file('[quota]\ngigabytes = 3\n', 'conf.d/10.conf');
    file('[quota]\ngigabytes = 5\n', 'conf.d/99.txt');
    const { quota } = loadConfig([first, second], { dirs: [join(dir, 'conf.d')] });
    expect(quota).toMatchObject({ shares: 1, snapshots: 2, gigabytes: 4 });
  });
});

// biome-ignore-end lint/suspicious/noTemplateCurlyInString: the configuration's own references

describe('back ends', () => {
  test('a section inherits from DEFAULT, and from the defaults', () => {
    const { config, warnings } = load(
      `[DEFAULT]\nenabled_share_backends = alpha,beta\nreserved_share_percentage = 10\nfake_delay = 1\n` +
        `${alpha}reserved_share_percentage = 20\nfake_pools = $my_ip\n` +
        '[beta]\nshare_driver = fake\ndriver_handles_share_servers = true\nshare_backend_name = BETA\n',
    );
    expect(warnings).toEqual([]);
    expect(config.backends.alpha).toMatchObject({
      share_backend_name: 'alpha',
      driver_handles_share_servers: false,
      reserved_share_percentage: 20,
      max_over_subscription_ratio: 20,
      options: { reserved_share_percentage: '20', fake_delay: '1', fake_pools: '127.0.0.1' },
    });
    expect(config.backends.beta).toMatchObject({ share_backend_name: 'BETA', reserved_share_percentage: 10 });
    expect(config.backends.alpha?.options).not.toHaveProperty('enabled_share_backends');
  });

  test('networks are read from the sections that a back end names, or its own', () => {
    const { config, warnings } = load(
      `[DEFAULT]\nenabled_share_backends = alpha\n${alpha}admin_network_config_group = adminnet\n` +
        'standalone_network_plugin_gateway = 10.254.0.1\n[adminnet]\nstandalone_network_plugin_mask = 24\n',
    );
    expect(warnings).toEqual([]);
    expect(config.networks.alpha?.standalone_network_plugin_gateway).toBe('10.254.0.1');
    expect(config.networks.adminnet?.standalone_network_plugin_mask).toBe('24');
  });

  test('one without a section, a driver or its mode is refused where it is enabled', () => {
    expect(problems('[DEFAULT]\n\nenabled_share_backends = alpha,quota,beta\n[alpha]\n')).toEqual([
      'shoal.conf:3: [alpha] share_driver has to be set: The driver that serves the back end: fake or ganesha.',
      'shoal.conf:3: [alpha] driver_handles_share_servers has to be set: Whether shares live on share servers of their networks.',
      "shoal.conf:3: [DEFAULT] enabled_share_backends: the section [quota] is not a back end's",
      'shoal.conf:3: [DEFAULT] enabled_share_backends: the section [beta] is in none of the files',
    ]);
  });

  test('a driver that does not exist is refused', () => {
    const text =
      '[DEFAULT]\nenabled_share_backends = a\n[a]\nshare_driver = nas\ndriver_handles_share_servers = no\n';
    expect(problems(text)).toEqual([
      'shoal.conf:4: [a] share_driver has to be one of fake, ganesha; found "nas"',
    ]);
  });
});

describe('what is wrong', () => {
  test('all of it is reported, with file, line, section, option and value', () => {
    expect(
      problems(
        '[DEFAULT]\nosapi_max_limit = many\nosapi_share_listen_port = 70000\n[quota]\nshares = -2\n[broken\nnonsense\n' +
          '[DEFAULT]\ndata_node_mount_options = nfs\nproject_id_regex = [\n',
      ),
    ).toEqual([
      'shoal.conf:6: a section header has the form [name]',
      'shoal.conf:7: neither a [section], a comment nor `name = value`',
      'shoal.conf:3: [DEFAULT] osapi_share_listen_port has to be a port (0 to 65535); found "70000"',
      'shoal.conf:2: [DEFAULT] osapi_max_limit has to be an integer of at least 1; found "many"',
      'shoal.conf:10: [DEFAULT] project_id_regex has to be a regular expression; found "["',
      'shoal.conf:9: [DEFAULT] data_node_mount_options has to be a list of name:value, with commas between; found "nfs"',
      'shoal.conf:5: [quota] shares has to be an integer of at least -1; found "-2"',
    ]);
  });

  test('a missing file is named', () => {
    expect(() => loadConfig(['/nowhere/shoal.conf'])).toThrow('/nowhere/shoal.conf: does not exist');
    expect(() => loadConfig([], { dirs: ['/nowhere'] })).toThrow('/nowhere: does not exist');
  });

  test('secrets are not told', () => {
    const told = problems(
      '[database]\nconnection = postgresql://shoal:hunter2@db/shoal\n[redis]\nurl = http://:hunter2@x\n',
    ).join();
    expect(told).toContain(
      'shoal.conf:2: [database] connection has to be a URL of the form mysql+pymysql://',
    );
    expect(told).toContain('shoal.conf:4: [redis] url has to be');
    expect(told).not.toContain('hunter2');
  });

  test('noauth stays on the loopback address unless forced', () => {
    const remote = '[DEFAULT]\nauth_strategy = noauth\nosapi_share_listen = 0.0.0.0\n';
    expect(problems(remote).join()).toMatch(
      /^shoal\.conf:3: \[DEFAULT\] auth_strategy = noauth trusts every caller/,
    );
    expect(problems(`${remote}noauth_allow_remote = true\n`)).toEqual([]);
    expect(problems('[DEFAULT]\nauth_strategy = noauth\n')).toEqual([]);
  });

  test('unknown options are warned of with the nearest name; what other parts need is noted', () => {
    const { warnings } = load(
      '[DEFAULT]\nosapi_max_limits = 3\ntransport_url = rabbit://\nxyzzy = 1\n[qota]\nshares = 1\n' +
        '[coordination]\nbackend_url = file://\n[idle]\nshare_driver = fake\nfake_x = 1\n',
    );
    expect(warnings).toEqual([
      'shoal.conf:2: [DEFAULT] osapi_max_limits is not an option; is osapi_max_limit meant?',
      'shoal.conf:3: [DEFAULT] transport_url has no use here',
      'shoal.conf:4: [DEFAULT] xyzzy is not an option',
      'shoal.conf:6: [qota] is not a section that anything reads; is quota meant?',
      'shoal.conf:8: [coordination] backend_url has no use here',
    ]);
  });
});

describe('options without effect', () => {
  test('setting one is warned of, in a back end too', () => {
    const { warnings } = load(
      `[DEFAULT]\nenabled_share_backends = alpha\nosapi_share_workers = 4\ndebug = true\n${alpha}backend_host = b\n` +
        '[quota]\nmax_age = 5\nshares = 3\n',
    );
    expect(warnings).toEqual([
      'shoal.conf:3: [DEFAULT] osapi_share_workers has no effect yet',
      'shoal.conf:8: [alpha] backend_host has no effect yet',
      'shoal.conf:10: [quota] max_age has no effect yet',
    ]);
  });

  /** Words of the sources that may read options, which leaves out the tables of options themselves. */
  const words = new Set(
    ['server', 'handlers', 'jobs', 'db', 'drivers', 'domain', 'network']
      .flatMap((directory) => globSync(`${directory}/**/*.ts`, { cwd: root }))
      .filter((name) => !/\.test\.ts$|^server\/(config\/(?!config\.ts)|local\/testing)/.test(name))
      .flatMap((name) => readFileSync(join(root, name), 'utf8').match(/\w+/g) ?? []),
  );
  const options = Object.entries(sections).flatMap(([section, table]) =>
    Object.keys(table).map((name) => ({ section, name })),
  );

  test('an option that nothing reads is one of them', () => {
    const unread = options.filter(({ name }) => !words.has(name));
    expect(unread.filter(({ section, name }) => !hasNoEffect(section, name, false))).toEqual([]);
  });

  test('an option that something reads is none of them', () => {
    // Words that stand there for something else.
    const others = ['prefix', 'max_age'];
    const read = options.filter(({ name }) => words.has(name) && !others.includes(name));
    expect(read.filter(({ section, name }) => hasNoEffect(section, name, false))).toEqual([]);
  });
});

describe('database URL', () => {
  const read = (url: string) => load(`[database]\nconnection = ${url}\n`).config.database.connection;

  test('user, password, host, port and name are told apart', () => {
    expect({ ...read('mysql+pymysql://shoal:p%40ss%3A@db.example:3307/manila?charset=utf8') }).toEqual({
      user: 'shoal',
      password: 'p@ss:',
      host: 'db.example',
      port: 3307,
      database: 'manila',
      socketPath: undefined,
    });
    expect(read('mysql://u@[::1]/db')).toMatchObject({ host: '::1', port: 3306, password: '' });
    expect(read('mysql://u@localhost:80/db?unix_socket=/run/sql.sock')).toMatchObject({
      port: 80,
      socketPath: '/run/sql.sock',
    });
  });

  test('its password is never printed', () => {
    const url = read('mysql://shoal:hunter2@127.0.0.1/shoal');
    expect(`${url} ${JSON.stringify({ url })} ${inspect({ url })}`).not.toContain('hunter2');
    expect(String(url)).toBe('mysql://shoal:***@127.0.0.1:3306/shoal');
  });

  test.each(['mysql://u:p@h', 'mysql://u:p@h/', 'mysql://u:p%@h/db', 'db', 'mysql://u:p@h:99999/db'])(
    '%s is refused',
    (url) => {
      expect(() => read(url)).toThrow(ConfigError);
    },
  );
});
