import { local, tenants } from './local.ts';
import type { Profile } from './profile.ts';
import { recorded } from './recorded.ts';

export const profiles: Readonly<Record<string, Profile>> = { recorded, local, tenants };
