import type { Command } from 'commander'
import type { GatewayClient } from '../api/gateway-client.ts'
import { toDeploymentId } from '../deployments/deployment-id.ts'
import { findIdKind, ID_OPTIONS } from './id-kinds.ts'
import { isShortId, resolveShortId } from './resolve-short-id.ts'

/** Replaces the beginnings of ids among the arguments and options of a command by the whole ids. */
export async function resolveWords<Options extends object>(
  command: Command,
  { words, options }: { readonly words: readonly (string | undefined)[]; readonly options: Options },
  connect: () => GatewayClient,
): Promise<{ words: (string | undefined)[]; options: Options }> {
  const group = command.parent?.name() ?? ''
  const before = new Map<string, string>()
  const resolve = async (place: string, given: string): Promise<string> => {
    const [, type, id] = place === 'subject' ? (/^([a-z_]+)=(.+)$/.exec(given) ?? []) : []
    if (type !== undefined && id !== undefined) return `${type}=${await resolve(type, id)}`
    const word = place === 'deployment' ? toDeploymentId(given) : given
    const kind = findIdKind(word, place, group)
    if (kind === null || !isShortId(word, kind)) return word
    const path = kind.isOfAnyProject === true ? kind.path : fillPath(kind.path, before)
    return resolveShortId(connect(), { ...kind, path }, word)
  }
  // Words of a list of arguments, such as a prompt, are no ids.
  const places = command.registeredArguments.filter(({ variadic }) => !variadic)
  const resolved: (string | undefined)[] = []
  for (const [index, word] of words.entries()) {
    const place = places[index]?.name()
    // An argument that may be left out was.
    const whole = place === undefined || word === undefined ? word : await resolve(place, word)
    if (place !== undefined && whole !== undefined) before.set(place, whole)
    resolved.push(whole)
  }
  const given = ID_OPTIONS.flatMap((name) => {
    const value: unknown = (options as Record<string, unknown>)[name]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  const changed = await Promise.all(given.map(async ([name, value]) => [name, await resolve(name, value)]))
  return { words: resolved, options: { ...options, ...Object.fromEntries(changed) } }
}

/** The list may be one of what an earlier word names. */
function fillPath(path: string, before: ReadonlyMap<string, string>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, place: string) => encodeURIComponent(before.get(place) ?? ''))
}
