import type { Caller } from '../../modules/keys/keys.ts'
import {
  explainRefusal,
  pushRates,
  type Admission,
  type Limits,
  type Refusal,
} from '../../modules/limits/limits.ts'

interface AdmissionRequest {
  readonly caller: Caller
  readonly category: string
  readonly tokens: number
}

/** Adds the rate headers of an admitted request. Throws if the request is refused; the error has the same headers. */
export function admitRequest(
  limits: Limits,
  request: AdmissionRequest,
  headers: string[],
): Admission | Promise<Admission> {
  const outcome = limits.admit(request)
  return outcome instanceof Promise
    ? outcome.then((decided) => accept(decided, headers))
    : accept(outcome, headers)
}

function accept(outcome: Admission | Refusal, headers: string[]): Admission {
  if (!outcome.isAdmitted) throw explainRefusal(outcome)
  pushRates(headers, outcome)
  return outcome
}
