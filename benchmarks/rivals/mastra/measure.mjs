// Mastra on one workload: node measure.mjs WORKLOAD SIZE SECONDS. Prints one line of JSON, as one.py does.
//
// It is copied beside node_modules before it runs. The work by hand is JavaScript too: a loop, Promise.all, workers on
// one counter. The constants and the answers are those of hand.py and workloads.py.
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { z } from "zod";

const INPUT = 7;
const SLEEP = 10; // milliseconds
const AT_ONCE = 32;
const BUILD_CHECK = 100;
const SAMPLE = 4; // milliseconds that a sample takes at least
const PAIRS = 41;
const SLOW = 2000; // where a run takes so many milliseconds, three pairs are enough, else five
const VERY_SLOW = 6000; // and here one

const [workload, sizeText, secondsText] = process.argv.slice(2);
const size = Number(sizeText);
const number = z.object({ value: z.number() });
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const numbers = (count) => Array.from({ length: count }, (_, index) => index);
const sum = (values) => values.reduce((total, value) => total + value, 0);
const item = (value) => 3 * value + 1;

const step = (id, execute) => createStep({ id, inputSchema: number, outputSchema: number, execute });

function runner(workflow, inputData) {
  return async () => {
    const run = await workflow.createRun();
    const outcome = await run.start({ inputData });
    if (outcome.status !== "success") throw new Error(`${outcome.status} ${outcome.error?.message ?? ""}`);
    return outcome.result.value;
  };
}

function buildChain(length) {
  let workflow = createWorkflow({ id: "chain", inputSchema: number, outputSchema: number });
  for (const index of numbers(length)) {
    workflow = workflow.then(step(`step-${index}`, async ({ inputData }) => ({ value: inputData.value + 1 })));
  }
  return { workflow: workflow.commit() }; // boxed: a workflow has a method `then`, so it must not be awaited
}

function chain(length) {
  const functions = numbers(length).map(() => async (given) => ({ value: given.value + 1 }));
  return {
    run: runner(buildChain(length).workflow, { value: 0 }),
    hand: async () => {
      let given = { value: 0 };
      for (const one of functions) given = await one(given);
      return given.value;
    },
    answer: length,
  };
}

function fanOut(width, sleep) {
  const branch = (index) => async (given) => {
    if (sleep) await pause(sleep);
    return { value: given.value + index };
  };
  const functions = numbers(width).map(branch);
  const workflow = createWorkflow({ id: "fan-out", inputSchema: number, outputSchema: number })
    .parallel(functions.map((one, index) => step(`branch-${index}`, ({ inputData }) => one(inputData))))
    .map(async ({ inputData }) => ({ value: sum(Object.values(inputData).map((given) => given.value)) }))
    .commit();
  return {
    run: runner(workflow, { value: INPUT }),
    hand: async () => sum((await Promise.all(functions.map((one) => one({ value: INPUT })))).map((given) => given.value)),
    answer: width * INPUT + sum(numbers(width)),
  };
}

function map(length) {
  const items = numbers(length).map((value) => ({ value }));
  const one = async (given) => ({ value: item(given.value) });
  const workflow = createWorkflow({ id: "map", inputSchema: z.array(number), outputSchema: number })
    .foreach(step("one", ({ inputData }) => one(inputData)), { concurrency: AT_ONCE })
    .map(async ({ inputData }) => ({ value: sum(inputData.map((given) => given.value)) }))
    .commit();
  return {
    run: runner(workflow, items),
    hand: async () => {
      const results = new Array(length);
      let next = 0;
      const worker = async () => {
        while (next < length) {
          const index = next++;
          results[index] = await one(items[index]);
        }
      };
      await Promise.all(numbers(AT_ONCE).map(worker));
      return sum(results.map((given) => given.value));
    },
    answer: sum(numbers(length).map(item)),
  };
}

const WORKLOADS = {
  chain: () => chain(size),
  sequence: () => chain(size),
  "fan-out": () => fanOut(size, 0),
  parallel: () => fanOut(size, 0),
  sleep: () => fanOut(size, SLEEP),
  map: () => map(size),
  build: () => ({
    run: async () => void buildChain(size),
    check: runner(buildChain(BUILD_CHECK).workflow, { value: 0 }),
    answer: BUILD_CHECK,
  }),
};

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

// Milliseconds: of the processor, as in one.py, or those that pass where the steps wait.
function clock() {
  if (workload === "sleep") return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
}

async function timed(work, repeat) {
  const begin = clock();
  for (let count = 0; count < repeat; count++) await work();
  return clock() - begin;
}

// How often it fits in a sample: the best of a few, one of which may have been interrupted.
async function repeats(work, tries) {
  let best = Infinity;
  for (let count = 0; count < tries; count++) best = Math.min(best, await timed(work, 1));
  return Math.max(1, Math.round(SAMPLE / Math.max(best, 1e-6)));
}

async function measure({ run, hand, check, answer }) {
  const begin = clock();
  const given = await (check ?? run)();
  const first = clock() - begin;
  if (given !== answer) return { status: "wrong", why: `it gave ${given} and not ${answer}` };
  if (hand && (await hand()) !== answer) throw new Error("the work by hand gave something else");
  const enough = first > VERY_SLOW ? 1 : first > SLOW ? 3 : 5;
  const repeat = first > SAMPLE ? await repeats(run, 1) : await repeats(run, 50);
  const byHand = hand ? await repeats(hand, workload === "sleep" ? 1 : 50) : 1; // 50 times, until it is compiled
  const ours = [];
  const theirs = [];
  const end = performance.now() + Number(secondsText) * 1000;
  while (ours.length < PAIRS && (ours.length < enough || performance.now() < end)) {
    const handFirst = ours.length % 2 === 0;
    if (hand && handFirst) theirs.push((await timed(hand, byHand)) / byHand);
    ours.push((await timed(run, repeat)) / repeat);
    if (hand && !handFirst) theirs.push((await timed(hand, byHand)) / byHand);
  }
  const units = ["sleep", "sequence", "parallel"].includes(workload) ? 1 : size;
  const result = { status: "measured", us: (median(ours) * 1e3) / units, pairs: ours.length };
  if (hand) {
    result.hand_us = (median(theirs) * 1e3) / units;
    result.ratio = median(ours.map((value, index) => value / theirs[index]));
  }
  return result;
}

let result;
try {
  result = await measure(WORKLOADS[workload]());
} catch (error) {
  result = { status: "failed", why: String(error).slice(0, 300) };
}
console.log(JSON.stringify(result));
process.exit(0);
