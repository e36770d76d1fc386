/** Extensions of the API: all that there were have become part of it, the calls remain. */
import { fault } from '#domain/faults.ts';
import type { Handlers } from './request.ts';

export const extensions = {
  async listExtensions() {
    return { extensions: [] };
  },

  async getExtension() {
    throw fault('notFound');
  },
} satisfies Partial<Handlers>;
