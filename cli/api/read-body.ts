import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { notAGateway } from './api-failure.ts'

/** Reads the JSON of a response. Throws a failure that says why there is none. */
export async function readJson(response: Response): Promise<unknown> {
  const text = await readText(response)
  try {
    return JSON.parse(text)
  } catch {
    throw notAGateway(new URL(response.url).origin, 'its answer is not JSON')
  }
}

/** Reads the text of a response. Throws a failure if it is cut. */
export async function readText(response: Response): Promise<string> {
  try {
    return await response.text()
  } catch (error) {
    throw isCut(error) ? connectionCut() : error
  }
}

/** fetch reports a broken connection in this way. */
export function isCut(error: unknown): boolean {
  return error instanceof TypeError && /^(?:terminated|fetch failed)$/.test(error.message)
}

export function connectionCut(): CommandFailure {
  return new CommandFailure(
    EXIT.gatewayAway,
    'The connection to the gateway was cut while its answer arrived.',
    'Try again. "parkway tasks" shows whether a task was made.',
  )
}
