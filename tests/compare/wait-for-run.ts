import { until } from '../app/call.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'

export const RUNS = '/v1/compare/runs'

type Gateway = Pick<TestGateway, 'request'>

// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
type Answer = any

/** Waits until the run has ended and returns it. */
export function waitForRun(gateway: Gateway, id: string): Promise<Answer> {
  return until(async () => {
    const { body: run } = await gateway.request('GET', `${RUNS}/${id}`)
    return ['completed', 'failed', 'cancelled'].includes(run.status) ? run : null
  })
}

/** Creates a run and waits until it has ended. */
export async function makeRun(gateway: Gateway, body: object): Promise<Answer> {
  const { status, body: run } = await gateway.request('POST', RUNS, { body })
  if (status !== 201) throw new Error(`no run was made: ${status} ${JSON.stringify(run)}`)
  return waitForRun(gateway, run.id)
}

/** Reads all cells of a run, page by page. */
export async function readCells(gateway: Gateway, id: string, filter = ''): Promise<Answer[]> {
  const cells: Answer[] = []
  for (let after = ''; ;) {
    const { body } = await gateway.request('GET', `${RUNS}/${id}/results?limit=100${filter}${after}`)
    cells.push(...body.data)
    if (body.next_cursor === null) return cells
    after = `&after=${encodeURIComponent(body.next_cursor)}`
  }
}
