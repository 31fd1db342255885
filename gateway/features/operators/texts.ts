// The texts of the operators' page, in English.
import { texts as pageTexts } from '../../pages/texts.js'

const number = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 })

export const OPERATOR_TEXTS = {
  operators: {
    title: 'Triplegate for operators',
    ready: 'Ready',
    notReady: 'Not ready',
    at: (time: string) => `As of ${time}.`,
    still: 'Stop refreshing every 10 seconds',
    again: 'Refresh every 10 seconds',
    purged: 'The caches were cleared, and the rules were read again.',
    health: 'Health',
    part: 'Part',
    state: 'State',
    good: 'good',
    journal: 'Journal and history',
    noHistory: 'No application has a history.',
    application: 'Application',
    commits: 'Commits',
    waiting: 'Writes without a commit yet',
    doubt: 'Of these, in doubt',
    lag: 'Behind by',
    seconds: (value: number) => `${number(value)} s`,
    cache: 'Responses and caches',
    answers: 'Responses since the start',
    hitRate: 'Answered without the store',
    cacheOf: (name: string) => `Cache: ${name}`,
    megabytes: (value: number) => `${number(value)} MB`,
    holds: 'Event loop',
    held: (longestMs: number, minuteMs: number, holds: number) =>
      `blocked for up to ${number(longestMs)} ms (${number(minuteMs)} ms in the last minute), ${holds} times for more than 200 ms`,
    refused: 'Latest requests that were refused or failed',
    noneRefused: 'None since the start.',
    slow: 'Latest slow requests',
    noneSlow: 'No request has taken more than half a second since the start.',
    time: 'Time',
    request: 'Request',
    answer: 'Answer',
    agent: 'Agent',
    anonymous: 'anonymous',
    took: 'Time (in the store)',
    ms: (all: number, store: number) => `${number(all)} ms (${number(store)})`,
    purge: 'Purge the caches',
    purgeHelp: 'Needed only after something else has changed the store. The gateway then reads everything again.',
    purgeGraph: 'Only this graph (empty: everything)',
    purgeNow: 'Purge',
  },
} as const

export const texts = () => pageTexts().with(OPERATOR_TEXTS).operators
export { pageTexts }
