import { printableInLine } from '../output/printable.ts'
import type { DeploymentEvent } from './follow-deployment.ts'

/** One line of a deployment's history. */
export function describeEvent({ created_at: at, status, message }: DeploymentEvent): string {
  return `${at.slice(11, 19)}  ${status.padEnd(9)} ${printableInLine(message)}`
}
