import type { TestGateway } from '../support/start-test-gateway.ts'

const LOOKS_MAX = 20

/** Waits until the task has ended and returns it. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
export async function waitForTask(gateway: TestGateway, taskId: string, key?: string): Promise<any> {
  for (let look = 1; look <= LOOKS_MAX; look += 1) {
    const { status, body } = await gateway.request('GET', `/v1/tasks/${taskId}?wait=10`, key ? { key } : {})
    if (status !== 200) throw new Error(`the task could not be read: ${status} ${JSON.stringify(body)}`)
    if (body.status !== 'pending' && body.status !== 'processing') return body
  }
  throw new Error(`the task ${taskId} did not end`)
}
