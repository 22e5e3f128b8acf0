// The Mandelbrot set, row after row: mandelbrot SIZE.
use std::env;
use std::process::exit;

const LIMIT: u32 = 255;

fn steps(x: f64, y: f64) -> u32 {
    let (mut re, mut im) = (0.0, 0.0);
    let (mut re2, mut im2) = (0.0, 0.0);
    let mut count = 0;
    while count < LIMIT && re2 + im2 <= 4.0 {
        im = 2.0 * re * im + y;
        re = re2 - im2 + x;
        re2 = re * re;
        im2 = im * im;
        count += 1;
    }
    count
}

fn main() {
    let size: usize = match env::args().nth(1).and_then(|word| word.parse().ok()) {
        Some(size) if size > 0 => size,
        _ => {
            eprintln!("mandelbrot: expected a size");
            exit(2)
        }
    };
    let image: Vec<u32> = (0..size * size)
        .map(|pixel| {
            let x = -2.0 + 3.0 * ((pixel % size) as f64) / (size as f64);
            let y = -1.5 + 3.0 * ((pixel / size) as f64) / (size as f64);
            steps(x, y)
        })
        .collect();
    let inside = image.iter().filter(|&&count| count == LIMIT).count();
    let area = 9.0 * (inside as f64) / ((size * size) as f64);
    println!("{:.4} {}", area, image.iter().map(|&count| u64::from(count)).sum::<u64>());
    // The set's area is 1.5066; points that leave late are counted in.
    if !(1.45..1.6).contains(&area) {
        exit(1);
    }
}
