import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and text, as they came. */
  readonly content: string
}

export interface SmtpServer {
  readonly url: string
  readonly received: ReceivedMail[]
  /** Refuses the next mails with 451, which means "try again later". */
  refuseNext(count: number): void
  close(): void
}

/** A mail server that speaks as much of RFC 5321 as a client needs without encryption. */
export async function startSmtpServer(): Promise<SmtpServer> {
  const received: ReceivedMail[] = []
  const sockets = new Set<Socket>()
  let refusals = 0
  const server = createServer((socket) => {
    sockets.add(socket.setEncoding('utf8').on('error', () => {}))
    const answer = (line: string) => socket.write(`${line}\r\n`)
    let mail = { from: '', to: [] as string[] }
    let content: string | null = null
    let rest = ''
    const handle = (line: string) => {
      if (content !== null) {
        if (line !== '.') content += `${line.replace(/^\./, '')}\n`
        else {
          received.push({ ...mail, content })
          answer('250 Taken')
          mail = { from: '', to: [] }
          content = null
        }
        return
      }
      const verb = line.slice(0, 4).toUpperCase()
      if (verb === 'EHLO' || verb === 'HELO') answer('250 localhost')
      else if (verb === 'MAIL') {
        mail.from = line
        answer(refusals > 0 ? '451 Try again later' : '250 OK')
        if (refusals > 0) refusals -= 1
      } else if (verb === 'RCPT') {
        mail.to.push(line.replace(/^RCPT TO:<|>.*$/gi, ''))
        answer('250 OK')
      } else if (verb === 'DATA') {
        content = ''
        answer('354 Go on')
      } else if (verb === 'QUIT') {
        answer('221 Bye')
        socket.end()
      } else answer('250 OK')
    }
    socket.on('data', (piece: string) => {
      const lines = (rest + piece).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) handle(line)
    })
    answer('220 localhost ready')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    refuseNext: (count) => {
      refusals = count
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
