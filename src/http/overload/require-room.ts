import type { Caller } from '../../modules/keys/keys.ts'
import type { Exchange } from '../exchange.ts'
import type { LoadGate } from './load-gate.ts'
import { overloaded } from './overload-refusal.ts'

/**
 * Refuses the request if the process has too much to do. Operators must be able to look and to act then; only their own requests to
 * models are refused as those of all others.
 */
export function requireRoom(load: LoadGate, { access, route }: Exchange, caller: Caller): void {
  const isAlwaysServed = caller.isOperator === true && access?.permissions.includes('models.use') !== true
  if (!isAlwaysServed && !load.admits(caller.accountId, route)) throw overloaded()
}
