import { timeOfId } from '../../kernel/identifiers.ts'
import type { Installation } from '../installation.ts'
import type { MediaStore } from './media-store.ts'

/** Returns a store that does not delete files from before a restore while the original may still have them. */
export function protectFiles(
  store: MediaStore,
  { isPaused, restoredAtMs }: Pick<Installation, 'isPaused' | 'restoredAtMs'>,
): MediaStore {
  if (!isPaused) return store
  return {
    ...store,
    delete: async (key) => {
      if (timeOfId(key) > (restoredAtMs ?? Infinity)) await store.delete(key)
    },
  }
}
