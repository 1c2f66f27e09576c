import { Type } from 'typebox'
import type { LinkMails } from '../../../modules/people/people.ts'
import { orNull } from '../../../wires/nullable.ts'
import { baseUrlOf } from '../../parameters/base-url-of.ts'
import type { RouteRequest } from '../../route.ts'

/** How a link for one person gets to them. */
export const Delivery = Type.Optional(
  Type.Enum(['mail', 'link'], {
    description:
      '`mail` sends the link to the person, where the operator has set a mail server and the address of the gateway: the default there. `link` shows it here.',
  }),
)

export const DeliveredLink = {
  mailed: Type.Boolean({ description: 'Whether the link was mailed to the person. It is then not shown.' }),
  url: orNull(Type.String(), 'The link with the code, to pass on to the person. Null if it was mailed.'),
}

type Link = Omit<Parameters<LinkMails['send']>[0], 'url'> & { readonly code: string }

/** Mails a link or returns it for whoever made it. */
export type DeliverLink = (
  link: Link,
  wish: {
    readonly headers: RouteRequest<unknown, unknown, unknown>['headers']
    readonly delivery: 'mail' | 'link' | undefined
  },
) => Promise<{ mailed: boolean; url: string | null; code: string | null }>

export function createDeliverLink({
  mails,
  publicUrl,
}: {
  mails: LinkMails
  publicUrl: string | null
}): DeliverLink {
  return async ({ code, ...link }, { headers, delivery }) => {
    // In the fragment, which browsers send to no server, so that it is in no log.
    const url = `${(publicUrl ?? baseUrlOf(headers)).replace(/\/+$/, '')}/accept-invite#code=${code}`
    // A mail with an address that the request named would make this gateway send links to other sites.
    const mailed = delivery !== 'link' && publicUrl !== null && (await mails.send({ ...link, url }))
    return mailed ? { mailed, url: null, code: null } : { mailed, url, code }
  }
}
