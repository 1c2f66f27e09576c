import type { PartChoice, WireName } from '../case.ts'
import type { FileShape } from '../files/write-file.ts'
import type { Random } from './random.ts'

/** Makes files of every kind: mostly such as the model takes and sent as what they are, and some as something else. */
export function makeParts(random: Random, wire: WireName, model: string): PartChoice[] {
  if (wire === 'edit') return Array.from({ length: random.pick([1, 2, 16]) }, () => edited(random))
  if (random.chance(0.4)) return []
  // One part that a vendor refuses ends the whole request, so odd ones are few.
  if (random.chance(0.35)) return Array.from({ length: random.int(1, 2) }, () => oddPart(random))
  const kinds = KINDS.find(([pattern]) => pattern.test(model))?.[1] ?? ['picture']
  const count = random.pick([1, 1, 2, 3, 10])
  const file = makeFile(random, random.pick(kinds))
  return Array.from({ length: count }, () =>
    plainPart(random, random.chance(0.5) ? file : makeFile(random, random.pick(kinds)), wire),
  )
}

type Kind = FileShape['is']

/** What the vendors of these models take. */
const KINDS: readonly (readonly [RegExp, readonly Kind[]])[] = [
  [/^gpt-audio/, ['picture', 'audio', 'pdf']],
  [/^gpt-/, ['picture', 'picture', 'pdf']],
  [/^claude-/, ['picture', 'pdf', 'text']],
  [/^gemini-/, ['picture', 'pdf', 'audio', 'video', 'text']],
  [/^own-vision/, ['picture', 'picture', 'video']],
]
const ALL_KINDS: readonly Kind[] = ['picture', 'pdf', 'audio', 'video', 'text']

function edited(random: Random): PartChoice {
  const file = { is: 'picture', width: random.pick([512, 1024, 1536]), height: 1024 } as const
  return { file, as: 'picture', by: 'data', declared: null, place: 'user', detail: null }
}

function plainPart(random: Random, file: FileShape, wire: WireName): PartChoice {
  // OpenAI's chat takes documents only as data.
  const mayBeHosted = file.is === 'picture' || file.is === 'video' || wire !== 'chat'
  return {
    file,
    as: HONEST[file.is],
    by: mayBeHosted && random.chance(0.3) ? 'address' : 'data',
    declared: null,
    place: random.chance(0.15) ? 'tool result' : 'user',
    detail: random.pick([null, 'auto', 'low', 'high']),
  }
}

function oddPart(random: Random): PartChoice {
  const file = makeFile(random, random.pick(ALL_KINDS))
  return {
    file,
    as: random.pick(['picture', 'picture', 'picture', 'file', 'audio', 'video']),
    by: random.chance(0.4) ? 'address' : 'data',
    declared: random.chance(0.3) ? random.pick(DECLARED) : null,
    place: random.chance(0.2) ? 'tool result' : 'user',
    detail: null,
  }
}

/** Whether a file is sent as something else. */
export function isOdd({ file, as }: PartChoice): boolean {
  return as !== HONEST[file.is]
}

const HONEST = { picture: 'picture', pdf: 'file', audio: 'audio', video: 'video', text: 'file' } as const
const DECLARED = ['image/png', 'image/jpeg', 'application/pdf', 'text/plain', 'audio/wav', 'video/mp4']

function makeFile(random: Random, kind: Kind): FileShape {
  switch (kind) {
    case 'picture':
      return {
        is: 'picture',
        width: random.pick([16, 384, 1_024, 2_048, 4_000]),
        height: random.pick([16, 600, 1_024, 3_000]),
      }
    case 'pdf':
      return {
        is: 'pdf',
        pages: random.pick([1, 5, 30, 100]),
        wordsPerPage: random.pick([0, 20, 800]),
        layout: random.pick(['plain', 'shared', 'packed']),
      }
    case 'audio':
      return { is: 'audio', format: random.pick(['wav', 'mp3']), seconds: random.pick([0.5, 10, 60]) }
    case 'video':
      return { is: 'video', seconds: random.pick([1, 30, 600]) }
    case 'text':
      return { is: 'text', words: random.pick([5, 2_000, 60_000]) }
  }
}
