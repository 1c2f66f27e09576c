import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HostedFiles } from '../files/hosted-files.ts'
import type { InvoiceLine } from './invoice-line.ts'
import type { PlannedWork, Plans } from './planned-work.ts'

/** One request as a vendor receives it. */
export interface VendorCall {
  readonly path: string
  readonly contentType: string
  readonly bytes: Buffer
  readonly text: string
  readonly response: ServerResponse
  /** Resolves if the caller closes the connection before the answer is complete. */
  readonly closed: Promise<'closed'>
  /** Resolves when the connection is closed or the answer is complete. */
  readonly over: Promise<void>
  readonly planned: PlannedWork
  readonly vendor: VendorContext
}

interface VendorContext {
  readonly name: string
  readonly files: HostedFiles
  readonly lines: InvoiceLine[]
}

export interface Vendor {
  readonly name: string
  readonly url: string
  /** The invoice so far. */
  readonly lines: readonly InvoiceLine[]
  close(): Promise<void>
}

/** A request that a vendor answers with an error, and does not bill. */
export class Refused extends Error {
  readonly status: number

  constructor(message: string, status = 400) {
    super(message)
    this.status = status
  }
}

interface VendorOptions {
  readonly name: string
  readonly plans: Plans
  readonly files: HostedFiles
  readonly handle: (call: VendorCall) => Promise<void>
}

/** Starts a vendor that reads whole requests, finds out to which case they belong, and handles them. */
export async function startVendor({ name, plans, files, handle }: VendorOptions): Promise<Vendor> {
  const lines: InvoiceLine[] = []
  const vendor: VendorContext = { name, files, lines }
  const server = createServer((incoming, response) => {
    void answer(incoming, response)
  })
  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const closed = new Promise<'closed'>((resolve) => {
      response.once('close', () => {
        if (!response.writableFinished) resolve('closed')
      })
    })
    const over = new Promise<void>((resolve) => {
      response.once('close', resolve)
    })
    const chunks: Buffer[] = []
    try {
      for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
    } catch {
      // A request that did not arrive whole is no work.
      return
    }
    const bytes = Buffer.concat(chunks)
    const text = bytes.toString('utf8')
    const planned = plans.of(text)
    if (planned === null) {
      refuse(response, new Refused('this request belongs to no case'))
      return
    }
    planned.begin()
    const contentType = incoming.headers['content-type'] ?? ''
    try {
      const path = incoming.url ?? ''
      await handle({ path, contentType, bytes, text, response, closed, over, planned, vendor })
    } catch (error) {
      if (!(error instanceof Refused)) planned.fail(error)
      refuse(response, error instanceof Refused ? error : new Refused('the simulated vendor failed', 500))
    } finally {
      planned.finish()
    }
  }
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    lines,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

function refuse(response: ServerResponse, { status, message }: Refused): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const error = { message, type: 'invalid_request_error', code: status, status: 'INVALID_ARGUMENT' }
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ type: 'error', error }))
}
