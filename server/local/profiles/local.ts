/**
 * One back end that serves NFS from this machine. Its shares are there again at the next start, on the port that
 * they were mounted from. Backups go to a directory beside.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { canOpenByHandle } from '#drivers/ganesha/privileges.ts';
import { rememberedPort } from '../ports.ts';
import type { Profile } from './profile.ts';

export const local: Profile = {
  name: 'local',
  throwaway: false,
  config: {
    DEFAULT: {
      host: 'localhost',
      my_ip: '127.0.0.1',
      auth_strategy: 'noauth',
      enabled_share_backends: ['ganesha'],
      enabled_share_protocols: ['NFS'],
      default_share_type: 'default',
      report_interval: 5,
      periodic_interval: 15,
    },
    ganesha: {
      share_driver: 'ganesha',
      share_backend_name: 'ganesha',
      driver_handles_share_servers: false,
    },
  },
  async prepare(directory) {
    if (!(await canOpenByHandle()))
      throw new Error(
        'NFS-Ganesha needs root: run this as root, or `make stack` for a service without storage',
      );
    const backups = join(directory, 'backups');
    await mkdir(backups, { recursive: true, mode: 0o700 });
    return {
      DEFAULT: { backup_mount_export: backups, backup_continue_update_interval: 1 },
      ganesha: { ganesha_service_port: await rememberedPort(join(directory, 'nfs-port')) },
    };
  },
};
