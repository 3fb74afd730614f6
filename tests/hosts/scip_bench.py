#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SCIP alone against SCIP with gpuopt's branching rule: models x seeds x backends, several runs side by side.

Usage: scip_bench.py --program scip_solve [--models NAME,...] [--seeds 0,1,2] [--how alone,cpu,cuda] [--limit 120]
                     [--jobs 8] [--gpus 0] [--folder FOLDER] [--log FILE] [NAME=VALUE ...]

--program   examples/hosts/scip_solve.c, built; with SCIP's libraries where it finds them (LD_LIBRARY_PATH)
--models    names of models in --folder, as .mps, .mps.gz or .mps.xz
--how       what to compare; the first one is the base of the factors
--gpus      not 0: so many GPUs, one of which each run with cuda has to itself
NAME=VALUE  parameters of SCIP for every run; those of the rule, branching/gpuopt/..., only for runs with it

The runs of one model and seed start one after the other, so that they share the machine's state. Seconds are SCIP's
solving time. A run that reaches the limit counts with the limit. Means are geometric, shifted by 1 s.
"""
import argparse, gzip, lzma, math, os, queue, re, shutil, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

MODELS = 'air05,eil33-2,csched008,misc07,p0201,binkar10_1,50v-10'
LINE = re.compile(r'primal (\S+) dual (\S+) nodes (\d+) seconds (\S+) branching (\S+) strong (\d+)')


def unpack(folder, name, to):
    """The model as a plain file in the folder `to`."""
    target = os.path.join(to, name + '.mps')
    for suffix, opens in (('.mps', open), ('.mps.gz', gzip.open), ('.mps.xz', lzma.open)):
        path = os.path.join(folder, name + suffix)
        if os.path.exists(path):
            with opens(path, 'rb') as source, open(target, 'wb') as file:
                shutil.copyfileobj(source, file)
            return target
    sys.exit('no model %s in %s' % (name, folder))


def run(job):
    """One run: a dictionary with its figures, or an error."""
    name, seed, how, path, options = job
    settings = ['randomization/randomseedshift=%d' % seed, 'limits/time=%g.0' % options.limit]
    settings += [s for s in options.settings if how != 'alone' or '/gpuopt/' not in s]
    environment = dict(os.environ)
    gpu = options.free.get() if how == 'cuda' and options.gpus else None
    if gpu is not None:
        environment['CUDA_VISIBLE_DEVICES'] = str(gpu)
    try:
        done = subprocess.run([options.program, path, how] + settings, stdout=subprocess.PIPE, env=environment,
                              stderr=subprocess.STDOUT, text=True, timeout=3 * options.limit + 60)
        text = done.stdout
    except subprocess.TimeoutExpired:
        text = 'no end'
    if gpu is not None:
        options.free.put(gpu)
    found = LINE.search(text)
    result = {'model': name, 'seed': seed, 'how': how, 'text': text, 'ok': bool(found)}
    if found:
        primal, dual = float(found[1]), float(found[2])
        result.update(primal=primal, dual=dual, nodes=int(found[3]), seconds=float(found[4]),
                      branching=float(found[5]), strong=int(found[6]),
                      solved=primal == dual or abs(primal - dual) <= 1e-6 * max(1, abs(primal)))
    return result


def mean(values, shift):
    return math.exp(sum(math.log(v + shift) for v in values) / len(values)) - shift


def gap(r):
    if r['solved']:
        return ''
    if abs(r['primal']) >= 1e20 or abs(r['dual']) >= 1e20:
        return 'gap inf'
    return 'gap %.2f%%' % (100 * abs(r['primal'] - r['dual']) / max(1e-9, abs(r['primal'])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', required=True)
    parser.add_argument('--models', default=MODELS)
    parser.add_argument('--seeds', default='0,1,2')
    parser.add_argument('--how', default='alone,cuda')
    parser.add_argument('--limit', type=float, default=120)
    parser.add_argument('--jobs', type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument('--gpus', type=int, default=0)
    parser.add_argument('--folder', default='.')
    parser.add_argument('--log')
    parser.add_argument('settings', nargs='*')
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    options.free = queue.Queue()
    for gpu in range(options.gpus):
        options.free.put(gpu)
    models, hows = options.models.split(','), options.how.split(',')
    seeds = [int(s) for s in options.seeds.split(',')]
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: unpack(options.folder, name, folder) for name in models}
        jobs = [(n, s, h, paths[n], options) for n in models for s in seeds for h in hows]
        with ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(run, jobs))
    if options.log:
        with open(options.log, 'w') as file:
            for r in results:
                file.write('== %s seed %d %s\n%s\n' % (r['model'], r['seed'], r['how'], r['text']))
    bad = report(results, models, seeds, hows, options.limit)
    sys.exit(1 if bad else 0)


def report(results, models, seeds, hows, limit):
    """Prints the tables. Returns how many runs failed, or contradict another one."""
    of = {(r['model'], r['seed'], r['how']): r for r in results}
    bad = 0
    factors = {h: [] for h in hows}
    print('%-16s %4s  %-6s %9s %9s %9s %10s  %s' %
          ('model', 'seed', 'how', 'seconds', 'branching', 'nodes', 'strong it', 'answer'))
    for name in models:
        times = {h: [] for h in hows}
        nodes = {h: [] for h in hows}
        for seed in seeds:
            for how in hows:
                r = of[name, seed, how]
                if not r['ok']:
                    bad += 1
                    print('%-16s %4d  %-6s FAILED: %s' % (name, seed, how, r['text'].strip()[-200:]))
                    continue
                times[how].append(min(r['seconds'], limit) if r['solved'] else limit)
                nodes[how].append(r['nodes'])
                print('%-16s %4d  %-6s %9.2f %9.2f %9d %10d  %.10g %s' %
                      (name, seed, how, r['seconds'], r['branching'], r['nodes'], r['strong'], r['primal'], gap(r)))
        solved = [r for r in results if r['model'] == name and r['ok'] and r['solved']]
        for r in solved:
            if abs(r['primal'] - solved[0]['primal']) > 1e-6 * max(1, abs(r['primal'])):
                bad += 1
                print('%s: the answers of %s and %s differ' % (name, solved[0]['how'], r['how']))
        if all(len(times[h]) == len(seeds) for h in hows):
            line = []
            for h in hows:
                factor = (mean(times[hows[0]], 1) + 1) / (mean(times[h], 1) + 1)
                factors[h].append(factor)
                line.append('%s %.2f s, %.0f nodes, x%.2f' % (h, mean(times[h], 1), mean(nodes[h], 10), factor))
            print('%-16s mean  %s' % (name, '; '.join(line)))
    for h in hows:
        if factors[h]:
            print('all models: %s x%.2f, worst x%.2f' % (h, mean(factors[h], 0), min(factors[h])))
    return bad


if __name__ == '__main__':
    main()
