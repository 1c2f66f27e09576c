/** A part of a text's meaning, and its weight. */
export interface Feature {
  readonly name: string
  readonly weight: number
}

/** Longer texts are cut, because the rest hardly changes the meaning. */
const CHARACTERS_MAX = 16_384
const GRAM_LENGTH = 3
const WEIGHTS = { stem: 1, stopWord: 0.08, concept: 0.9, gram: 0.16, pair: 0.25 } as const

/**
 * Yields what a text is about: stems, their concepts, pairs of neighbouring words and runs of letters, which match misspelt and
 * inflected words. Common words have a low weight.
 */
export function* listFeatures(text: string): Generator<Feature> {
  let previous: string | null = null
  for (const word of listWords(text)) {
    if (STOP_WORDS.has(word)) {
      yield { name: `w:${word}`, weight: WEIGHTS.stopWord }
      continue
    }
    const stem = stemWord(word)
    yield { name: `w:${stem}`, weight: WEIGHTS.stem }
    const concept = CONCEPTS.get(stem)
    if (concept !== undefined) yield { name: `c:${concept}`, weight: WEIGHTS.concept }
    if (previous !== null) yield { name: `p:${previous} ${stem}`, weight: WEIGHTS.pair }
    previous = stem
    const framed = `<${word}>`
    for (let start = 0; start + GRAM_LENGTH <= framed.length; start += 1)
      yield { name: `g:${framed.slice(start, start + GRAM_LENGTH)}`, weight: WEIGHTS.gram }
  }
}

/** Returns the stems, or their concepts, of the meaningful words. */
export function listTerms(text: string): string[] {
  const words = [...listWords(text)]
  const telling = words.filter((word) => !STOP_WORDS.has(word))
  return (telling.length > 0 ? telling : words).map((word) => {
    const stem = stemWord(word)
    return CONCEPTS.get(stem) ?? stem
  })
}

const SCRIPT_WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u

function* listWords(text: string): Generator<string> {
  // Cut again, because one character can become eighteen.
  const plain = text
    .slice(0, CHARACTERS_MAX)
    .normalize('NFKD')
    .slice(0, CHARACTERS_MAX)
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
  for (const [word] of plain.matchAll(/[\p{L}\p{N}]+|[\p{Extended_Pictographic}\p{S}]/gu)) {
    if (SCRIPT_WITHOUT_SPACES.test(word)) yield* listPairs(word)
    else yield word
  }
}

function* listPairs(run: string): Generator<string> {
  const characters = Array.from(run)
  for (let index = 0; index < Math.max(1, characters.length - 1); index += 1)
    yield characters.slice(index, index + 2).join('')
}

/** Endings of English words, longest first. The stem keeps at least three letters. */
const ENDINGS: readonly (readonly [string, string])[] = [
  ['ization', 'ize'],
  ['fulness', ''],
  ['ations', 'ate'],
  ['ation', 'ate'],
  ['iness', 'y'],
  ['ments', ''],
  ['ness', ''],
  ['ment', ''],
  ['ings', ''],
  ['ies', 'y'],
  ['ied', 'y'],
  ['ing', ''],
  ['ers', ''],
  ['ful', ''],
  ['est', ''],
  ['ed', ''],
  ['er', ''],
  ['es', ''],
  ['ly', ''],
  ['s', ''],
  ['e', ''],
]
const STEM_LENGTH_MIN = 3

function stemWord(word: string): string {
  for (const [ending, replacement] of ENDINGS) {
    if (!word.endsWith(ending) || word.length - ending.length < STEM_LENGTH_MIN || word.endsWith('ss'))
      continue
    const stem = word.slice(0, -ending.length) + replacement
    return stem.replace(/([bdfgmnprt])\1$/, '$1').replace(/e$/, '')
  }
  return word
}

const STOP_WORDS = new Set(
  (
    'a about after all also am an and any are as at be because been but by can could did do does for from had has ' +
    'have he her him his how i if in into is it its just me more my no not of on or our out she should so some such ' +
    'than that the their them then there these they this those to up us was we were what when where which who why ' +
    'will with would you your'
  ).split(' '),
)

/** Words with nearly the same meaning, one concept on each line. */
const SYNONYMS = `
car automobile vehicle auto sedan truck
happy glad joyful cheerful delighted joy happiness
sad unhappy miserable sorrow gloomy
big large huge enormous giant
small little tiny miniature
fast quick rapid swift speedy speed
slow sluggish
dog puppy canine hound
cat kitten feline kitty
pet animal
doctor physician medic surgeon
hospital clinic
medicine drug medication pill
illness disease sickness ill sick
buy purchase acquire shop
sell vend sale
cost price expense fee charge
money cash currency dollar euro payment pay
refund reimbursement repay
house home residence apartment dwelling
child kid children infant baby
film movie cinema
picture image photo photograph
song music melody tune
begin start commence
end finish conclude stop
help assist aid support
answer reply respond response
ask question inquire query
password credential login passcode
error failure bug fault crash fail
computer laptop pc machine
program software application app
phone telephone mobile smartphone
internet web online network
king monarch ruler
queen monarch
capital city town
country nation state
car motor
food meal dish cuisine eat dine dinner lunch
cook bake recipe roast
bread loaf dough
drink beverage
rain rainfall shower storm wet
weather climate forecast
sun sunshine sunny
cold chilly freezing
hot warm heat
sea ocean marine
ship boat vessel
plane aeroplane airplane aircraft flight fly
train railway rail
teacher instructor tutor professor
student pupil learner
school college university
learn study
job work employment occupation
boss manager supervisor
law legal statute
court judge lawyer attorney
gun weapon rifle pistol
war battle conflict
space cosmos universe galaxy astronomy star planet
physics quantum
plant flower garden
tree forest wood
football soccer
run jog sprint
delete remove erase
create make build construct
send deliver ship mail
email mail message letter
`

const CONCEPTS = new Map(
  SYNONYMS.trim()
    .split('\n')
    .flatMap((line) => {
      const words = line.split(' ')
      return words.map((word): [string, string] => [stemWord(word), words[0] ?? word])
    })
    .toReversed(),
)
