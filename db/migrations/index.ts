/**
 * The schema's history, for knex. The baseline is the one that Manila's own migrations end in, so that an
 * existing database can be taken over, and handed back; Shoal's own migrations only add.
 */
import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';

/** The revision of the baseline, as alembic_version keeps it. */
export const BASELINE_REVISION = 'afc3b5e1f406';

export interface Migration {
  name: string;
  up(knex: Knex): Promise<void>;
}

const baseline: Migration = {
  name: '0001-baseline',
  async up(knex) {
    if ((await knex.schema.hasTable('alembic_version')) && (await knex('alembic_version').first())) return;
    const text = readFileSync(new URL('baseline.sql', import.meta.url), 'utf8');
    await knex.raw('SET foreign_key_checks = 0');
    // Cut short, it can be run again: the revision, which says that all is there, comes last.
    for (const statement of text.split(/;\s*\n/)) {
      if (!statement.trim()) continue;
      await knex.raw(statement.replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS').replaceAll('?', '\\?'));
    }
    await knex.raw('SET foreign_key_checks = 1');
    await knex.raw('INSERT INTO alembic_version (version_num) VALUES (?)', [BASELINE_REVISION]);
  },
};

const outbox: Migration = {
  name: '0002-outbox',
  async up(knex) {
    await knex.raw(`
      CREATE TABLE IF NOT EXISTS shoal_outbox (
        id bigint unsigned NOT NULL AUTO_INCREMENT,
        queue varchar(255) NOT NULL,
        kind varchar(64) NOT NULL,
        resource varchar(36) NOT NULL,
        payload longtext NOT NULL,
        created_at datetime(6) NOT NULL,
        sent_at datetime(6) DEFAULT NULL,
        attempts int(11) NOT NULL DEFAULT 0,
        PRIMARY KEY (id),
        KEY shoal_outbox_resource (resource, id),
        KEY shoal_outbox_sent_at (sent_at, id)
      ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci`);
  },
};

/** The lists that projects ask for most; the baseline reads these tables whole. */
const indexes: Migration = {
  name: '0003-project-indexes',
  async up(knex) {
    await knex.raw(
      'CREATE INDEX IF NOT EXISTS shoal_shares_project ON shares (project_id, deleted, created_at)',
    );
    await knex.raw(
      'CREATE INDEX IF NOT EXISTS shoal_snapshots_project ON share_snapshots (project_id, deleted, created_at)',
    );
    await knex.raw(
      'CREATE INDEX IF NOT EXISTS shoal_messages_project ON messages (project_id, deleted, created_at)',
    );
    await knex.raw('CREATE INDEX IF NOT EXISTS shoal_messages_resource ON messages (resource_id)');
    await knex.raw('CREATE INDEX IF NOT EXISTS shoal_reservations_uuid ON reservations (uuid)');
    await knex.raw(
      'CREATE INDEX IF NOT EXISTS shoal_locks_resource ON resource_locks (resource_id, deleted)',
    );
  },
};

export const migrations: readonly Migration[] = [baseline, outbox, indexes];
