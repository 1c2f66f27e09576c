/** What a client command ends with. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notSignedIn: 3,
  notFound: 4,
  noCredit: 5,
  limited: 6,
  gatewayAway: 7,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
