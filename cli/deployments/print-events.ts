import { printableInLine } from '../output/printable.ts'
import type { DeploymentEvent } from './follow-deployment.ts'

/** One line of a deployment's history, with its time as the API has it, like the lines of a log. */
export function describeEvent({ created_at: at, status, message }: DeploymentEvent): string {
  return `${at}  ${status.padEnd(9)} ${printableInLine(message)}`
}
