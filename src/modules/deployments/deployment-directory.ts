import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Database } from '../../storage/database.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { isRowWithin } from '../../storage/place.ts'
import type { CatalogModel, ModelSource, ModelViewer } from '../catalog/catalog.ts'
import { deploymentIdOf, type Deployment } from './deployment.ts'
import { deploymentFromRow, type DeploymentRow } from './deployment-row.ts'
import { refusalOf } from './refuse-deployment.ts'
import { toCatalogModel } from './models/to-catalog-model.ts'

/** A deployment as this process last read it, with its catalog model. */
interface KnownDeployment {
  readonly deployment: Deployment
  readonly model: CatalogModel
}

/** All deployments, in memory, so that requests to them do not wait for the database. */
export interface DeploymentDirectory extends ModelSource {
  find(deploymentId: string): KnownDeployment | undefined
  /** Lists the viewer's deployments that accept requests, awake or not. */
  listServed(viewer: ModelViewer): readonly Deployment[]
  /** Calls the listener after each read of a change of the deployment. Returns the function that removes it. */
  watch(deploymentId: string, listener: () => void): () => void
  close(): void
}

interface DirectoryOptions {
  readonly database: Database
  readonly messageBus: Pick<MessageBus, 'subscribe' | 'onConnectionLost'>
  readonly clock: Clock
  readonly logger: Logger
  /** Returns whether the viewer may use deployments of this driver. */
  readonly isOffered: (viewer: ModelViewer, driverId: string) => boolean
  /** Called when a deployment is not running any more. */
  readonly onLeft: (deploymentId: string) => void
  /** Called for each announced change, before this process confirms it. */
  readonly beforeConfirm: () => Promise<void>
}

export const CHANGE_TOPIC = 'deployments.changed'
/** Interval of the poll that finds changes whose message was lost. */
const POLL_MS = 5_000
/** Each poll reads this much of the past again, because a transaction becomes visible some time after its `now()`. */
const OVERLAP_MS = 60_000

export async function createDeploymentDirectory(options: DirectoryOptions): Promise<DeploymentDirectory> {
  const { database, messageBus, logger, isOffered } = options
  const known = new Map<string, KnownDeployment>()
  const byAccount = new Map<string, Set<string>>()
  const listeners = new Map<string, Set<() => void>>()
  let readUntil = new Date(0)

  const note = (row: DeploymentRow): void => {
    const deployment = deploymentFromRow(row)
    const { id, accountId, status } = deployment
    const ids = byAccount.get(accountId) ?? new Set()
    const wasRunning = known.get(id)?.deployment.status === 'running'
    if (status === 'deleted' || deployment.desiredState === 'deleted') {
      known.delete(id)
      ids.delete(id)
    } else {
      known.set(id, { deployment, model: toCatalogModel(deployment) })
      byAccount.set(accountId, ids.add(id))
    }
    if (ids.size === 0) byAccount.delete(accountId)
    if (wasRunning && known.get(id)?.deployment.status !== 'running') options.onLeft(id)
    for (const listener of listeners.get(id) ?? []) listener()
  }
  const readChanged = async (): Promise<void> => {
    const [now] = await database.query<{ now: Date }>('SELECT now()')
    const rows = await database.query<DeploymentRow>('SELECT * FROM deployments WHERE updated_at >= $1', [
      readUntil,
    ])
    for (const row of rows) note(row)
    if (now !== undefined) readUntil = new Date(now.now.getTime() - OVERLAP_MS)
  }
  await readChanged()
  const unsubscribe = messageBus.subscribe(CHANGE_TOPIC, async (deploymentId) => {
    const rows = await database.query<DeploymentRow>('SELECT * FROM deployments WHERE id = $1', [
      deploymentId,
    ])
    for (const row of rows) note(row)
    await options.beforeConfirm()
  })
  const timer = setInterval(() => {
    readChanged().catch((error: unknown) =>
      logger.warn({ reason: messageOf(error) }, 'changes of deployments could not be read'),
    )
  }, POLL_MS).unref()

  const isVisible = (viewer: ModelViewer, { deployment }: KnownDeployment): boolean =>
    isRowWithin(viewer, deployment) && isOffered(viewer, deployment.driver)

  const visibleTo = (viewer: ModelViewer): readonly KnownDeployment[] =>
    [...(byAccount.get(viewer.accountId) ?? [])]
      .flatMap((id) => known.get(id) ?? [])
      .filter((found) => isVisible(viewer, found))

  return {
    find: (deploymentId) => known.get(deploymentId),
    resolve: (viewer, modelId) => {
      const deploymentId = deploymentIdOf(modelId)
      const found = deploymentId === null ? undefined : known.get(deploymentId)
      return found !== undefined && isVisible(viewer, found) ? found.model : undefined
    },
    list: (viewer) =>
      visibleTo(viewer)
        .filter(({ deployment }) => deployment.status === 'running')
        .map(({ model }) => model),
    listServed: (viewer) =>
      visibleTo(viewer)
        .map(({ deployment }) => deployment)
        .filter((deployment) => refusalOf(deployment) === null),
    watch: (deploymentId, listener) => {
      const watching = listeners.get(deploymentId) ?? new Set()
      listeners.set(deploymentId, watching.add(listener))
      return () => {
        watching.delete(listener)
        if (watching.size === 0) listeners.delete(deploymentId)
      }
    },
    close: () => {
      unsubscribe()
      clearInterval(timer)
    },
  }
}
