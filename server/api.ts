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
import { listenFailure } from './process/listening.ts';
import { endOnSignal, loadSources, run, startFoundation } from './process/start.ts';
import { StartError } from './process/startError.ts';
import { impatientRedisClient } from './redis.ts';

const usage = `Usage: node server/api.ts [--config-file FILE]… [--config-dir DIR]…

Serves the API. Prints nothing on standard output; logs JSON lines on standard error.`;

run(async () => {
  const config = loadSources(readArguments(usage));
  // What the files say is judged before anything else is waited for.
  const identity = identityOf(config);
  const enforcer = loadEnforcer(config.oslo_policy.policy_file);
  const { log, db } = await startFoundation('api', config, 10);
  const redis = impatientRedisClient(config.redis.url, log);
  announceThrough(() => void redis.publish(OUTBOX_CHANNEL, '1').catch(() => {}));

  const app = await createApp({
    shared: {
      db,
      settings: settingsOf(config),
      enforcer,
      reports: reportReader(redis),
      explanation: (shareId) => readExplanation(redis, shareId),
    },
    engine: await createEngine(handlers),
    identity,
    projectIdRegex: config.DEFAULT.project_id_regex,
    endpoint: config.DEFAULT.osapi_share_base_URL?.replace(/\/$/, '') ?? null,
    allowedOrigins: config.cors.allowed_origin,
    showStatements: config.DEFAULT.show_statements,
    log: (entry) => {
      if (entry.error === undefined) log.request(entry);
      else log('error', 'request', { ...entry, error: String((entry.error as Error).stack ?? entry.error) });
    },
  });
  const { osapi_share_listen: host, osapi_share_listen_port: port } = config.DEFAULT;
  await app.listen({ host, port }).catch((error: Error) => {
    throw listenFailure(error, host, port);
  });
  log('info', 'serving', { addresses: app.addresses() });
  endOnSignal(log, config.DEFAULT.graceful_shutdown_timeout, async () => {
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

/** Where noauth may listen, the configuration has judged already. */
function identityOf(config: Config): Identity {
  if (config.DEFAULT.auth_strategy === 'keystone')
    throw new StartError(
      'auth_strategy = keystone, which is the default, is not served yet. Set auth_strategy = noauth in [DEFAULT]: ' +
        'it trusts every caller, and listens on the loopback address alone',
    );
  return noauth;
}

function settingsOf(config: Config): Settings {
  return { ...config.DEFAULT, quota: config.quota };
}
