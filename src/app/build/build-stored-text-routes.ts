import { bodyStorageRoutes } from '../../http/routes/account/body-storage.ts'
import { requestBodyRoutes } from '../../http/routes/account/request-bodies.ts'
import { savedChatRoutes } from '../../http/routes/account/saved-chats.ts'
import type { Route } from '../../http/route.ts'
import { createSavedChats } from '../../modules/saved-chats/saved-chats.ts'
import type { Config } from '../settings/config.ts'
import type { Modules } from './build-modules.ts'
import { bodyStorageRules } from './build-usage.ts'

/** The routes of texts of clients that are stored, encrypted: bodies of requests, and what people keep. */
export function buildStoredTextRoutes(config: Config, modules: Modules): Route[] {
  const { storedBodies, requestLog, accounts, keys, audit } = modules
  return [
    ...requestBodyRoutes({ requestLog, storedBodies, audit }),
    ...bodyStorageRoutes({ storedBodies, accounts, keys, audit, rules: bodyStorageRules(config) }),
    ...savedChatRoutes({ savedChats: createSavedChats(modules) }),
  ]
}
