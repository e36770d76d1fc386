/** The API process. */
import { onOutboxWrite } from '#db/outbox.ts';
import { handlers } from '#handlers/index.ts';
import type { Settings } from '#handlers/settings.ts';
import { readExplanation } from '#jobs/explanations.ts';
import { OUTBOX_CHANNEL } from '#jobs/queues.ts';
import { reportReader } from '#jobs/reports.ts';
import type { Config } from './config/config.ts';
import { createApp } from './http/app.ts';
import { createEngine } from './http/engine.ts';
import type { Identity } from './identity/identity.ts';
import { noauth } from './identity/noauth.ts';
import { loadEnforcer } from './policyFile.ts';
import { readArguments } from './process/arguments.ts';
import { endOnSignal, run, startFoundation } from './process/start.ts';
import { impatientRedisClient } from './redis.ts';

const usage = `Usage: node server/api.ts [--config-file FILE]… [--config-dir DIR]…

Serves the API. Prints nothing on standard output; logs JSON lines on standard error.`;

run(async () => {
  const { config, log, db } = await startFoundation('api', readArguments(usage), 16);
  const redis = impatientRedisClient(config.redis.url, log);
  announceThrough(() => void redis.publish(OUTBOX_CHANNEL, '1').catch(() => {}));

  const app = await createApp({
    shared: {
      db,
      settings: settingsOf(config),
      enforcer: loadEnforcer(config.oslo_policy.policy_file),
      reports: reportReader(redis),
      explanation: (shareId) => readExplanation(redis, shareId),
    },
    engine: await createEngine(handlers),
    identity: identityOf(config),
    projectIdRegex: config.DEFAULT.project_id_regex,
    endpoint: config.DEFAULT.osapi_share_base_URL?.replace(/\/$/, '') ?? null,
    allowedOrigins: config.cors.allowed_origin,
    showStatements: config.DEFAULT.show_statements,
    log: (entry) =>
      log(entry.status >= 500 ? 'error' : 'info', 'request', {
        ...entry,
        error: entry.error && String((entry.error as Error).stack ?? entry.error),
      }),
  });
  await app.listen({ host: config.DEFAULT.osapi_share_listen, port: config.DEFAULT.osapi_share_listen_port });
  log('info', 'serving', { addresses: app.addresses() });
  endOnSignal(log, async () => {
    await app.close();
    redis.disconnect();
    await db.close();
  });
});

/** Many writes of one turn of the event loop are told once. */
function announceThrough(tell: () => void): void {
  let waiting = false;
  onOutboxWrite(() => {
    if (waiting) return;
    waiting = true;
    setImmediate(() => {
      waiting = false;
      tell();
    });
  });
}

function identityOf(config: Config): Identity {
  const { auth_strategy, osapi_share_listen, noauth_allow_remote } = config.DEFAULT;
  if (auth_strategy === 'keystone')
    throw new Error('auth_strategy = keystone is not served yet; set auth_strategy = noauth');
  const loopback =
    osapi_share_listen === '::1' ||
    osapi_share_listen === 'localhost' ||
    osapi_share_listen.startsWith('127.');
  if (!loopback && !noauth_allow_remote) {
    throw new Error(
      `auth_strategy = noauth trusts every caller and so serves loopback only, not ${osapi_share_listen}; noauth_allow_remote = true overrides`,
    );
  }
  return noauth;
}

function settingsOf(config: Config): Settings {
  return { ...config.DEFAULT, quota: config.quota };
}
