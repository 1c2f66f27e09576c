import { createId } from '../../kernel/identifiers.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Mailer } from '../../mail/mailer.ts'
import type { Database } from '../../storage/database.ts'

interface LinkMail {
  readonly accountId: string
  readonly to: string
  readonly kind: 'invitation' | 'recovery'
  readonly url: string
  readonly expiresAtMs: number
}

export interface LinkMails {
  /** Sends a link to the person it is for. Returns false if nothing was sent, so that whoever made the link passes it on. */
  send(mail: LinkMail): Promise<boolean>
}

/** So that nobody fills the mailbox of a stranger through this gateway. */
const MAILS_PER_HOUR_MAX = 200
/** Whoever invites waits for the mail server. */
const WAIT_MS_MAX = 15_000

/** Mails links, if the operator has set a mail server. It does not try again: whoever made the link is told and has it. */
export function createLinkMails({
  database,
  mailer,
  logger,
}: {
  database: Database
  mailer: Mailer | null
  logger: Logger
}): LinkMails {
  return {
    send: async (mail) => {
      if (mailer === null) return false
      const [found] = await database.query<{ name: string; sent: bigint }>(
        `SELECT name, (SELECT count(*) FROM account_changes WHERE account_id = $1 AND created_at > now() - interval '1 hour'
           AND type IN ('invite.sent', 'recovery_link.created')) AS sent FROM accounts WHERE id = $1`,
        [mail.accountId],
      )
      if (found === undefined || Number(found.sent) > MAILS_PER_HOUR_MAX) return false
      try {
        const content = writeMail(mail, found.name)
        await withinMs(mailer.send({ to: mail.to, id: createId(), ...content }), WAIT_MS_MAX)
        return true
      } catch (error) {
        logger.warn({ err: error }, 'a link could not be mailed')
        return false
      }
    },
  }
}

const NAME_LENGTH_MAX = 80

function writeMail(
  { kind, url, expiresAtMs }: LinkMail,
  accountName: string,
): { subject: string; text: string } {
  // The account chooses its name, and the mail must stay ours.
  const account = accountName
    .replaceAll(/[\p{C}<>]|https?:|\s+/gu, ' ')
    .slice(0, NAME_LENGTH_MAX)
    .trim()
  const until = new Date(expiresAtMs).toISOString().slice(0, 16).replace('T', ' ')
  const [subject, first] =
    kind === 'invitation'
      ? [`You are invited to "${account}" on Parkway`, `You are invited to the account "${account}".`]
      : [
          `A new way into "${account}" on Parkway`,
          `Somebody who manages the members of "${account}" made you a link to sign in again.`,
        ]
  const text = [
    first,
    '',
    'Open this link, and make a passkey with the lock of your device:',
    url,
    '',
    `It works once, until ${until} UTC. Do not pass it on: whoever opens it first signs in as you.`,
    'If you did not expect this mail, ignore it.',
  ].join('\n')
  return { subject, text }
}

async function withinMs(work: Promise<void>, waitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the mail server took longer than ${waitMs} ms`)), waitMs)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
