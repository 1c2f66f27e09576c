import { join, resolve } from 'node:path'
import { createModelCache, type ModelCache } from '../../hub/model-cache/model-cache.ts'
import type { CachedCommit } from '../../hub/model-cache/reserve-room.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { Database } from '../../storage/database.ts'
import type { Config } from '../settings/config.ts'
import { hubEndpoint } from './hub-endpoint.ts'

interface ModelCacheParts {
  readonly database: Database
  readonly outbound: Outbound
}

const GIGA = 1_000_000_000

/** Models of the hub on the disk of this machine. */
export function buildModelCache(config: Config, { database, outbound }: ModelCacheParts): ModelCache {
  return createModelCache({
    outbound,
    endpoint: hubEndpoint(config),
    token: config.hfToken,
    directory: resolve(config.modelCacheDir ?? join(config.dataDir, 'models')),
    limits: {
      bytesMax: config.modelCacheGb * GIGA,
      freeBytesMin: config.modelCacheFreeGb * GIGA,
      listUsed: (models) => listUsedModels(database, models),
    },
  })
}

/** A deployment that names a branch may use any commit of its model. */
async function listUsedModels(
  database: Database,
  models: readonly CachedCommit[],
): Promise<readonly CachedCommit[]> {
  const rows = await database.query<{ huggingface_id: string; revision: string | null }>(
    `SELECT DISTINCT huggingface_id, revision FROM deployments WHERE desired_state <> 'deleted' AND huggingface_id = ANY ($1)`,
    [[...new Set(models.map(({ modelId }) => modelId))]],
  )
  const isUsed = ({ modelId, commit }: CachedCommit): boolean =>
    rows.some(
      ({ huggingface_id: id, revision }) => id === modelId && (revision === commit || !isPinned(revision)),
    )
  return models.filter(isUsed)
}

function isPinned(revision: string | null): boolean {
  return revision !== null && /^[0-9a-f]{40}$/.test(revision)
}
