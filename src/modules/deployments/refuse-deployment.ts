import { AppError } from '../../kernel/app-error.ts'
import type { Deployment } from './deployment.ts'

/** Returns the error for requests to a deployment that will not start without its account; null if a request can wait for it. */
export function refusalOf(deployment: Deployment): AppError | null {
  const { status, statusReason, desiredState, errorMessage } = deployment
  if (status === 'error')
    return new AppError('deployment_failed', `The deployment failed: ${errorMessage ?? 'no reason is known'}`)
  if (desiredState === 'running' || desiredState === 'sleeping') return null
  if (statusReason === 'budget_reached')
    return new AppError(
      'deployment_budget_reached',
      'The budget of the deployment is reached. Make another one with a larger budget.',
    )
  if (statusReason === 'key_limit_reached')
    return new AppError(
      'key_limit_reached',
      'The deployment was stopped because the limit of the key that made it is reached.',
    )
  if (statusReason === 'budget_exceeded')
    return new AppError(
      'budget_exceeded',
      'The deployment was stopped because a budget that it counts for is reached; its events tell which one. Start it again when there is room.',
    )
  if (statusReason === 'insufficient_balance')
    return new AppError(
      'insufficient_balance',
      'The deployment was stopped for want of credit. Add credit and start it again.',
    )
  return new AppError('deployment_not_ready', 'The deployment is stopped. Start it first.')
}
