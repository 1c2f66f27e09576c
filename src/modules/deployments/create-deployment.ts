import type { Clock } from '../../kernel/clock.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import type { OfferedTier } from '../../gpu/registry.ts'
import type { Hub } from '../../hub/hub.ts'
import type { Database } from '../../storage/database.ts'
import type { Caller } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { checkModel, type HubUse } from './models/check-model.ts'
import { chooseTier } from './tiers/choose-tier.ts'
import type { Deployment } from './deployment.ts'
import { findTier } from './tiers/find-tier.ts'
import { keepToken } from './models/hub-tokens.ts'
import {
  checkOrder,
  checkPrice,
  dropHubVariables,
  insertDeployment,
  type DeploymentOrder,
} from './new-deployment.ts'
import { notAllowed } from './not-allowed.ts'
import { requireCredit } from './bill/require-credit.ts'

interface CreateOptions {
  readonly database: Database
  readonly clock: Clock
  readonly hub: Hub
  readonly hubUseOf: (driverId: string) => HubUse
  readonly sealer: Sealer
  /** Whether the account may use the operator's hub token. */
  readonly mayUseHubToken: (accountId: string) => Promise<boolean>
  readonly ledger: Pick<Ledger, 'hold'> | null
  readonly sliceSeconds: number
}

interface CreateRequest {
  readonly caller: Caller
  readonly order: DeploymentOrder
  /** The tiers that the caller may use. */
  readonly tiers: readonly OfferedTier[]
}

/** Checks the order, the credit and the model, and stores the deployment, pinned to a commit of the model if that is known. */
export async function createDeployment(
  options: CreateOptions,
  { caller, order: asked, tiers }: CreateRequest,
): Promise<Deployment> {
  const order = dropHubVariables(asked)
  checkOrder(order)
  if (caller.allowedModels !== null) throw notAllowed()
  const asOperator = await options.mayUseHubToken(caller.accountId)
  const question = { ...order, token: order.hubToken, asOperator }
  const tier =
    order.gpuTier === null ? await chooseTier(options.hub, question, tiers) : findTier(tiers, order.gpuTier)
  checkPrice(tier, order)
  await requireCredit(options, caller, { model: '', pricePerHourNanoUsd: tier.pricePerHourNanoUsd })
  const { hubToken: token } = order
  const { hub, hubUseOf, database, clock, sealer } = options
  const commit = await checkModel(question, { hub, use: hubUseOf(tier.driverId), tier, tiers })
  const pinned = { ...order, revision: commit ?? order.revision }
  return database.transaction(async (transaction) => {
    const wanted = { order: pinned, tier, owner: caller, nowMs: clock.nowMs() }
    const deployment = await insertDeployment(transaction, wanted)
    if (token !== null) await keepToken(transaction, sealer, { deployment, token })
    return deployment
  })
}
