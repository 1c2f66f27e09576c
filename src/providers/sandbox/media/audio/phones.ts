/** One speech sound: the formants of the vocal tract and the sources that excite them. */
export interface Phone {
  readonly formantsHz: readonly [number, number, number]
  /** Strength of the vocal folds, 0 to 1. */
  readonly voicing: number
  /** Strength of the air noise, 0 to 1. */
  readonly hiss: number
  /** In units of an average letter. */
  readonly length: number
}

const SILENCE: Phone = { formantsHz: [500, 1500, 2500], voicing: 0, hiss: 0, length: 0.8 }
const PAUSE: Phone = { ...SILENCE, length: 2.6 }

/** Returns one sound for each letter of a text. The speech is not intelligible, but it has the rhythm and timbre of the text. */
export function listPhones(text: string): Phone[] {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return Array.from(plain, (character) => {
    const known = PHONES.get(character)
    if (known) return known
    if (/[.,;:!?…。、！？\n]/.test(character)) return PAUSE
    if (!/[\p{L}\p{N}]/u.test(character)) return SILENCE
    // Letters of other scripts use the sounds of the Latin ones.
    return LETTERS[(character.codePointAt(0) ?? 0) % LETTERS.length] ?? SILENCE
  })
}

type Formants = Phone['formantsHz']

const vowel = (formantsHz: Formants, length = 1.35): Phone => ({ formantsHz, voicing: 1, hiss: 0, length })
const murmur = (formantsHz: Formants): Phone => ({ formantsHz, voicing: 0.5, hiss: 0, length: 0.9 })
const hissing = (formantsHz: Formants, voicing: number, hiss: number): Phone => ({
  formantsHz,
  voicing,
  hiss,
  length: 0.95,
})
const stop = (formantsHz: Formants, voicing: number): Phone => ({
  formantsHz,
  voicing,
  hiss: 0.3,
  length: 0.6,
})

const PHONES = new Map(
  Object.entries<Phone>({
    a: vowel([740, 1150, 2440]),
    e: vowel([530, 1840, 2480]),
    i: vowel([290, 2250, 3010]),
    o: vowel([560, 860, 2410]),
    u: vowel([320, 870, 2240]),
    y: vowel([300, 1900, 2600], 1.1),
    l: murmur([360, 1250, 2700]),
    m: murmur([260, 1000, 2200]),
    n: murmur([260, 1500, 2500]),
    r: murmur([420, 1200, 1650]),
    w: murmur([320, 700, 2200]),
    j: murmur([290, 2100, 2900]),
    s: hissing([1800, 4800, 6800], 0, 0.5),
    z: hissing([1800, 4600, 6500], 0.35, 0.35),
    f: hissing([1200, 3200, 7200], 0, 0.3),
    v: hissing([300, 1200, 3600], 0.5, 0.15),
    h: hissing([600, 1600, 2600], 0, 0.35),
    x: hissing([1500, 3900, 6000], 0, 0.45),
    c: hissing([1700, 4200, 6200], 0, 0.4),
    p: stop([600, 1000, 2300], 0),
    b: stop([300, 900, 2200], 0.35),
    t: stop([1000, 3600, 5200], 0),
    d: stop([300, 1700, 2700], 0.35),
    k: stop([800, 1900, 2600], 0),
    g: stop([300, 1900, 2500], 0.35),
    q: stop([700, 1700, 2400], 0),
  }),
)

const LETTERS = [...PHONES.values()]
