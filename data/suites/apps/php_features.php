<?php
// Small loops over single features of the language: php_features.php ROUNDS.
declare(strict_types=0);

class Point
{
    public $x = 0;
    private $steps = 0;
    public static $made = 0;

    public function __construct($x)
    {
        $this->x = $x;
        self::$made++;
    }

    public function move($by)
    {
        $this->x += $by;
        $this->steps++;
        return $this->steps;
    }

    public static function twice($value)
    {
        return 2 * $value;
    }
}

function sum_of($a, &$b, $c = 3)
{
    $b++;
    return $a + $b + $c;
}

$features = [
    'arithmetic' => function ($n) {
        $total = 0;
        for ($i = 0; $i < $n; ++$i) {
            $total = ($total + $i * 3 - ($i >> 2) ^ ($i & 7)) % 1000003;
        }
        return $total;
    },
    'reals' => function ($n) {
        $real = 1.0;
        for ($i = 1; $i < $n; ++$i) {
            $real = sqrt($real * 1.5 + $i / 3.0) + floor($real) - round($real, 2) * 0.5;
        }
        return (int)$real;
    },
    'strings' => function ($n) {
        $length = 0;
        for ($i = 0; $i < $n; ++$i) {
            $text = 'value ' . $i . " is $i";
            $length += strlen(strtoupper($text)) + strpos($text, 'is') + strlen(substr($text, 2, 5));
            $length += strlen(str_replace('a', 'bb', $text)) + strlen(trim("  $text "));
        }
        return $length;
    },
    'arrays' => function ($n) {
        $items = [];
        for ($i = 0; $i < $n; ++$i) {
            $items[$i % 500] = $i;
            $items["k" . ($i % 50)] = $i;
            if (isset($items[$i - 7]) && !empty($items['k3'])) {
                unset($items[$i % 97]);
            }
        }
        sort($items);
        return count($items) + array_sum(array_map(fn($v) => $v & 1, $items)) + count(array_unique($items));
    },
    'each' => function ($n) {
        $items = range(1, 100);
        $total = 0;
        for ($i = 0; $i < $n / 50; ++$i) {
            foreach ($items as $key => $value) {
                $total += $key ^ $value;
            }
        }
        return $total;
    },
    'calls' => function ($n) {
        $b = 0;
        $total = 0;
        for ($i = 0; $i < $n; ++$i) {
            $total += sum_of($i, $b) + call_user_func('abs', -$i) + Point::twice($i);
        }
        return $total;
    },
    'objects' => function ($n) {
        $steps = 0;
        for ($i = 0; $i < $n; ++$i) {
            $point = new Point($i);
            $steps += $point->move(2) + $point->x;
        }
        return $steps + Point::$made;
    },
    'choices' => function ($n) {
        $total = 0;
        for ($i = 0; $i < $n; ++$i) {
            switch ($i % 6) {
                case 0: $total += 1; break;
                case 3: $total += 2; break;
                case 5: $total -= 1; break;
                default: $total += $i & 1 ? 3 : 4;
            }
            $total += $i == '5' ? 1 : ($i === 7 ? 2 : 0);
        }
        return $total;
    },
    'hashes' => function ($n) {
        $text = '';
        for ($i = 0; $i < $n / 10; ++$i) {
            $text = md5($text . $i) . crc32($text) . sha1((string)$i);
        }
        return strlen($text);
    },
    'patterns' => function ($n) {
        $found = 0;
        for ($i = 0; $i < $n / 10; ++$i) {
            $found += preg_match('/(\d+)-(\w+)/', "some $i-word here", $parts) + count(explode(',', "a,b,$i"));
        }
        return $found;
    },
    'serialised' => function ($n) {
        $total = 0;
        for ($i = 0; $i < $n / 20; ++$i) {
            $total += count(unserialize(serialize(['a' => $i, 'b' => [1, 2, 3], 'c' => 'text'])));
        }
        return $total;
    },
    'output' => function ($n) {
        $total = 0;
        for ($i = 0; $i < $n / 5; ++$i) {
            $total += strlen(sprintf('%05d %s %.2f', $i, 'x', $i / 3)) + strlen(number_format($i));
        }
        return $total;
    },
];

$rounds = (int)$argv[1];
$expected = ['each' => 1304, 'patterns' => 4 * 10, 'serialised' => 3 * 5];
foreach ($expected as $name => $value) {
    $found = $features[$name](100);
    if ($found !== $value) {
        fwrite(STDERR, "php_features.php: $name gave $found, expected $value\n");
        exit(1);
    }
}
$checksum = 0;
foreach ($features as $name => $feature) {
    $checksum = ($checksum * 31 + $feature($rounds)) % 1000000007;
}
echo $checksum, "\n";
