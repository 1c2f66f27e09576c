import { UpstreamError } from '../../failures/upstream-error.ts'

/** Returns the error for an invalid request, which an upstream answers with 400. */
export function refuseRequest(message: string, parameter?: string): UpstreamError {
  return new UpstreamError(`sandbox: refused: ${message}`, {
    failure: 'status',
    provider: 'sandbox',
    status: 400,
    upstreamMessage: message,
    ...(parameter === undefined ? {} : { upstreamParam: parameter }),
  })
}
