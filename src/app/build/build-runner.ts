import { createRunner, type Runner } from '../../modules/compare/compare.ts'
import { bootstrapInterval, createRunJudge } from '../../modules/judging/judging.ts'
import type { Borrower } from '../../storage/borrowing/borrower.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Modules } from './build-modules.ts'
import type { Config } from '../settings/config.ts'

/** Builds the runner of comparison runs, for a process with a worker. */
export function buildRunner(
  config: Config,
  { modules, borrower, logger }: { modules: Modules; borrower: Borrower; logger: GatewayLogger },
): Runner {
  const { database, clock, messageBus, ask, keys } = modules
  return createRunner({
    database,
    clock,
    messageBus,
    borrower,
    ask,
    keys,
    isBilled: config.billing,
    judge: createRunJudge({ database, clock, ask, keys, isBilled: config.billing }),
    findInterval: bootstrapInterval,
    logger,
  })
}
