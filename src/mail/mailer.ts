import type { Transporter } from 'nodemailer'

/** A mail as plain text, with at most one file. */
interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly attachment?: { readonly name: string; readonly type: string; readonly base64: string }
  /** The same mail sent twice has the same one, so that mail programs show it once. */
  readonly id: string
}

export interface Mailer {
  /** Resolves when the server has taken the mail. */
  send(mail: Mail): Promise<void>
  close(): void
}

interface MailerOptions {
  /** `smtps://user:password@mail.example.com` or `smtp://…:587` */
  readonly url: string
  /** `Parkway <parkway@example.com>` */
  readonly from: string
}

const CONNECT_MS_MAX = 10_000
const ANSWER_MS_MAX = 30_000
const CONNECTIONS_MAX = 2

/** Sends mail by the operator's server. The package is loaded with the first mail, because few gateways send any. */
export function createMailer({ url, from }: MailerOptions): Mailer {
  let opened: Promise<Transporter> | null = null
  const open = async (): Promise<Transporter> => {
    const { createTransport } = await import('nodemailer')
    return createTransport({
      url,
      pool: true,
      maxConnections: CONNECTIONS_MAX,
      connectionTimeout: CONNECT_MS_MAX,
      greetingTimeout: CONNECT_MS_MAX,
      socketTimeout: ANSWER_MS_MAX,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }
  return {
    send: async ({ to, subject, text, id, attachment }) => {
      opened ??= open()
      const transport = await opened
      await transport.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        messageId: `<${id}@parkway>`,
        ...(attachment !== undefined && {
          attachments: [
            {
              filename: attachment.name,
              contentType: attachment.type,
              content: attachment.base64,
              encoding: 'base64',
            },
          ],
        }),
      })
    },
    close: () => {
      opened?.then((transport) => transport.close()).catch(() => {})
    },
  }
}
